import {
  AllOrganizationsResponse,
  DeletedForm,
  Form,
  FormChanges,
  FormCheck,
  FormEvent,
  IssuedKey,
  Key,
  ListDeletedFormsResponse,
  ListEventsResponse,
  ListFormsResponse,
  ListKeysResponse,
  ListOrganizationsResponse,
  ListRevisionsResponse,
  type OperationId,
  Organization,
  Revision,
  Session,
  Whoami,
} from '@fms/contracts'

const organizationId = '8c2f4f0a-52be-4f0b-a6a4-1f1d6f2b7c11'
const formId = '0b7f7c1e-6a9c-4f0e-9d53-9c4b3f1c2a10'
const revisionId = '5a0e6a0f-3f0e-4bb6-8a54-0f6d3a1b9e21'

export const organization = Organization.parse({
  createTime: '2026-11-02T08:00:00.000Z',
  logo: null,
  metadata: null,
  name: 'Demo',
  path: `organizations/${organizationId}`,
  slug: 'demo',
})

export const form = Form.parse({
  name: 'Customer feedback',
  steps: [
    { type: 'start', key: 'hello', title: 'How was your visit?' },
    { type: 'rating', key: 'stars', title: 'Your rating', max: 5 },
    { type: 'end', key: 'thanks', title: 'Thank you' },
  ],
  createTime: '2026-11-20T09:30:00.000Z',
  path: `organizations/${organizationId}/forms/${formId}`,
  publicId: 'Ab3dE6gH9j',
  publicUrl: 'https://forms.example.com/f/Ab3dE6gH9j',
  replyCount: 0,
  updateTime: '2026-11-20T09:31:12.480Z',
})

const revision = Revision.parse({
  path: `${form.path}/revisions/${revisionId}`,
  alternateIds: ['live'],
  createTime: '2026-11-20T09:32:00.125Z',
  number: 7,
  publisher: 'users/4b1f0a52-0c1e-4f0b-8d53-7a6d2f1c3b22',
  note: 'Adds a question about allergies.',
  form: { ...form, live: true },
})

const deletedForm = DeletedForm.parse({
  path: `organizations/${organizationId}/deletedForms/${formId}`,
  publicId: form.publicId,
  name: form.name,
  deleteTime: '2026-11-21T16:04:33.210Z',
  purgeTime: '2026-12-21T16:04:33.210Z',
  deleter: revision.publisher,
})

/** As a maker writes it. */
const course = {
  name: 'Course',
  steps: [
    { type: 'start', key: 'hello', title: 'Sign up' },
    {
      type: 'choice',
      key: 'course',
      title: 'Which course?',
      required: true,
      options: [
        { key: 'day', label: 'By day' },
        { key: 'evening', label: 'In the evening' },
      ],
      branches: [
        {
          groups: [[{ stepKey: 'course', operator: 'equals', value: 'evening' }]],
          targetStepKey: 'email',
        },
      ],
    },
    { type: 'yes-no', key: 'childcare', title: 'Do you need childcare?' },
    { type: 'email', key: 'email', title: 'Your email address' },
    { type: 'end', key: 'thanks', title: 'See you there' },
  ],
  i18n: {
    supportedLocales: ['en', 'de'],
    translations: {
      de: {
        steps: {
          course: {
            title: { value: 'Welcher Kurs?' },
            options: [{ value: 'Tagsüber' }, { value: 'Abends' }],
          },
        },
      },
    },
  },
}

export const event = FormEvent.parse({
  specversion: '1.0',
  id: '0199f3a1-7c1e-7d53-9c4b-3f1c2a105a0e',
  source: `/v2/organizations/${organizationId}`,
  type: 'form.updated',
  subject: form.path,
  time: '2026-11-20T09:31:12.480Z',
  datacontenttype: 'application/json',
  sequence: '0000000000000312',
  data: {
    form: form.path,
    publicId: form.publicId,
    name: form.name,
    etag: '"3-draft.0"',
    previousEtag: '"2-draft.0"',
    actor: {
      user: 'users/4b1f0a52-0c1e-4f0b-8d53-7a6d2f1c3b22',
      key: { id: '9d2e6a0f-3f0e-4bb6-8a54-0f6d3a1b9e33', prefix: 'Zk3vQ9xT' },
    },
    httpRequestId: '7e4fe4f4-93f0-4b7c-b0a5-1b1e1a1c5a37',
    fields: ['name', 'steps'],
  },
})

const eventsPage = ListEventsResponse.parse({
  nextPageToken: '',
  oldestSequence: '0000000000000001',
  lastSequence: event.sequence,
  events: [event],
})

/** A stream of {@link event}: a comment with the position of the start, then the event. */
const eventStream = `:
id: 0000000000000311

id: ${event.sequence}
event: ${event.type}
data: ${JSON.stringify(event)}

`

export const key = Key.parse({
  path: 'keys/9d2e6a0f-3f0e-4bb6-8a54-0f6d3a1b9e33',
  name: 'Continuous integration',
  prefix: 'Zk3vQ9xT',
  readOnly: false,
  createTime: '2026-11-20T09:30:00.000Z',
  lastUsedTime: '2026-11-20T09:31:00.000Z',
  expireTime: '',
  current: true,
})

const issuedKey = IssuedKey.parse({
  key: { ...key, lastUsedTime: '', current: false },
  secret: 'fms_Zk3vQ9xT…',
})

const whoami = Whoami.parse({
  user: {
    path: 'users/4b1f0a52-0c1e-4f0b-8d53-7a6d2f1c3b22',
    email: 'ada@example.com',
    createTime: '2026-11-02T08:00:00.000Z',
  },
  key,
  memberships: [{ organization, role: 'owner' }],
})

const session = Session.parse({
  key: { ...issuedKey.key, name: 'Console', expireTime: '2026-11-20T21:30:00.000Z' },
  secret: issuedKey.secret,
  user: whoami.user,
})

const formChanges = FormChanges.parse({
  from: revision.path,
  to: form.path,
  changes: [
    {
      kind: 'CHANGED',
      field: 'form.name',
      fromPointer: '/name',
      toPointer: '/name',
      before: 'Feedback',
      after: 'Customer feedback',
    },
    {
      kind: 'REMOVED',
      field: 'form.steps[1]',
      fromPointer: '/steps/1',
      before: { type: 'choice', key: 'visit', options: ['in the shop', 'online'] },
      breaking: 'STEP_REMOVED',
    },
    { kind: 'MOVED', field: 'form.steps[1]', fromPointer: '/steps/3', toPointer: '/steps/1' },
  ],
  breakingCount: 1,
  publishable: true,
  violations: [],
  warnings: [],
})

const formCheck = FormCheck.parse({
  publishable: true,
  violations: [],
  warnings: [
    {
      field: 'form.steps[1].type',
      reason: 'TYPE_UNKNOWN',
      message: '"ratign" is not in the catalogue: did you mean rating?',
    },
  ],
})

const lastPage = { nextPageToken: '', totalSize: 1 }

const allOrganizations = AllOrganizationsResponse.parse({ organizations: [organization] })
const organizationsPage = ListOrganizationsResponse.parse({ ...allOrganizations, ...lastPage })
const keysPage = ListKeysResponse.parse({ keys: [key], ...lastPage })
const formsPage = ListFormsResponse.parse({ forms: [form], ...lastPage })
const deletedFormsPage = ListDeletedFormsResponse.parse({ deletedForms: [deletedForm], ...lastPage })
const revisionsPage = ListRevisionsResponse.parse({ revisions: [revision], ...lastPage })

const requestId = '3f0c9a52-8a0f-4f55-8c59-0a3b1d2e4f60'

const html = '<!doctype html>…'

type NamedExamples = Readonly<Record<string, unknown>>

export interface Examples {
  request?: NamedExamples
  response?: NamedExamples
}

export const examples: Readonly<Record<OperationId, Examples>> = {
  listOrganizations: { response: { page: organizationsPage, all: allOrganizations } },
  getOrganization: { response: { organization } },
  listForms: { response: { page: formsPage } },
  createForm: {
    request: {
      'only defaults': { form: {} },
      'a branch, options with keys, and another language': { form: course },
      'safe to repeat, with an id of your own': { form: {}, formId, requestId },
    },
    response: { form },
  },
  checkForm: {
    request: {
      'a misspelt type': {
        form: {
          steps: [
            form.steps[0],
            { type: 'ratign', key: 'stars', title: 'Your rating', max: 5 },
            form.steps[2],
          ],
        },
      },
    },
    response: { check: formCheck },
  },
  getForm: { response: { form } },
  updateForm: {
    request: {
      'another name and colour': {
        form: { name: 'How was it?', theme: { primaryColor: '#0f766e' }, description: null },
      },
    },
    response: { form },
  },
  deleteForm: {
    request: { 'a dry run': { validateOnly: true }, 'safe to repeat': { requestId } },
    response: { deleted: {} },
  },
  listDeletedForms: { response: { page: deletedFormsPage } },
  undeleteForm: { request: { 'safe to repeat': { requestId } }, response: { form } },
  purgeForm: {
    request: { 'a dry run': { validateOnly: true }, 'safe to repeat': { requestId } },
    response: { deleted: {} },
  },
  publishForm: {
    request: {
      'safe to repeat': { requestId },
      'with a note, and without orphaned answers': { note: revision.note, refuseBreaking: true },
    },
    response: { form: { ...form, live: true } },
  },
  unpublishForm: {
    request: { 'with a reason, and safe to repeat': { note: 'The price was wrong.', requestId } },
    response: { form },
  },
  listRevisions: { response: { page: revisionsPage } },
  getRevision: { response: { revision } },
  rollbackForm: {
    request: { 'a dry run': { validateOnly: true }, 'safe to repeat': { requestId } },
    response: { form },
  },
  listEvents: { response: { page: eventsPage } },
  streamEvents: { response: { stream: eventStream } },
  getEvent: { response: { event } },
  getChanges: { response: { changes: formChanges } },
  getWhoami: { response: { whoami } },
  listKeys: { response: { page: keysPage } },
  createKey: {
    request: { 'for a dashboard': { key: { name: 'Dashboard', readOnly: true } } },
    response: { key: issuedKey },
  },
  rotateKey: {
    request: { 'a day for both keys, and safe to repeat': { overlapSeconds: 86_400, requestId } },
    response: { key: issuedKey },
  },
  deleteKey: { request: { 'a dry run': { validateOnly: true } }, response: { deleted: {} } },
  createSession: {
    request: {
      code: { code: 'the code of the link' },
      'whose link it is': { code: 'the code of the link', validateOnly: true },
    },
    response: { session },
  },
  getOpenApi: { response: { document: { openapi: '3.1.1', info: { title: 'Form management' }, paths: {} } } },
  getDocs: { response: { page: html } },
  getConsole: { response: { page: html } },
}
