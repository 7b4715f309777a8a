import {
  AllOrganizationsResponse,
  ChangesQuery,
  CreateFormRequest,
  CreateKeyRequest,
  CreateSessionRequest,
  DeleteFormQuery,
  DeleteFormRequest,
  DeleteKeyQuery,
  DeleteKeyRequest,
  EmptyResponse,
  Form,
  FormChanges,
  FormEvent,
  GetQuery,
  IssuedKey,
  ListDeletedFormsResponse,
  ListEventsQuery,
  ListEventsResponse,
  ListFormsQuery,
  ListFormsResponse,
  ListKeysResponse,
  ListOrganizationsQuery,
  ListOrganizationsResponse,
  ListRevisionsQuery,
  ListRevisionsResponse,
  NoQuery,
  Organization,
  PageQuery,
  PublishFormRequest,
  type ReasonName,
  Revision,
  RollbackFormRequest,
  RotateKeyRequest,
  StreamEventsQuery,
  UndeleteFormRequest,
  UnpublishFormRequest,
  UpdateFormRequest,
  Whoami,
} from '@fms/contracts'
import { z } from 'zod'
import {
  allOrganizations,
  deletedFormsPage,
  event,
  eventStream,
  eventsPage,
  form,
  formChanges,
  formsPage,
  issuedKey,
  key,
  keysPage,
  organization,
  organizationsPage,
  revision,
  revisionsPage,
  session,
  whoami,
} from './examples.ts'

/** One operation of the API, as the document describes it. */
export interface Operation {
  id: string
  method: 'get' | 'post' | 'patch' | 'delete'
  /** Without `/v2`; its parameters are in {@link pathParameters}. */
  path: string
  tag: (typeof tags)[number]['name']
  summary: string
  description?: string
  query: z.ZodObject
  /** The fields of `filter` and `orderBy`. */
  filterFields?: string
  orderFields?: string
  requestHeaders?: 'if-match' | 'if-none-match' | 'last-event-id'
  body?: { contract: z.ZodType; required: boolean; examples: Record<string, unknown> }
  response: {
    description: string
    contract: z.ZodType
    mediaType?: string
    examples?: Record<string, unknown>
    etag?: 'always' | 'unless dry run'
    /** Whether the response of a repeat has the header `x-request-replayed`. */
    replayable?: boolean
  }
  reasons: readonly ReasonName[]
}

export const tags = [
  { name: 'Organizations', description: 'The owners of forms. Operators create and change them.' },
  {
    name: 'Forms',
    description: 'A form is a draft. Edits change the draft only; respondents see what was published last.',
  },
  { name: 'Revisions', description: 'Published copies of drafts. Only their `alternateIds` can change.' },
  {
    name: 'Events',
    description: 'The log of an organization: one event for each change of a form, numbered without gaps.',
  },
  {
    name: 'Keys',
    description:
      'The caller, and the API keys of the user. A key cannot create one with more rights than its own.',
  },
  { name: 'Reference', description: 'The description of this API, and the console. No key is needed.' },
] as const

export const pathParameters: Record<string, { description: string; example: string }> = {
  organizationRef: {
    description:
      "The organization's UUID, or its slug. `-` where a form, or its revision `live`, is read by `publicId`: the form may be in any of your organizations (AIP-159).",
    example: 'demo',
  },
  formRef: { description: "The form's UUID, or its `publicId`.", example: 'Ab3dE6gH9j' },
  keyId: {
    description: "The key's UUID: the last part of its `path`.",
    example: key.path.slice('keys/'.length),
  },
  eventId: { description: 'The `id` of the event.', example: event.id },
  revisionRef: {
    description: "The revision's UUID, `live`, or `latest`: the revision with the highest number.",
    example: 'live',
  },
}

/** Ids of a client, for examples. */
const formId = '0b7f7c1e-6a9c-4f0e-9d53-9c4b3f1c2a10'
const requestId = '3f0c9a52-8a0f-4f55-8c59-0a3b1d2e4f60'

/** Reasons of groups of operations. */
const everyOperation = ['INVALID_REQUEST', 'MALFORMED_REQUEST', 'INTERNAL'] as const
const caller = [
  ...everyOperation,
  'API_KEY_INVALID',
  'RATE_LIMITED',
  'TOO_MANY_WRONG_KEYS',
  'TOO_MANY_AT_ONCE',
  'AUTHENTICATION_UNAVAILABLE',
  'OVERLOADED',
] as const
const service = [
  'UPSTREAM_UNAVAILABLE',
  'STORE_UNAVAILABLE',
  'STORE_NOT_MIGRATED',
  'STORE_NOT_SUPPORTED',
  'STORE_SCHEMA_TOO_NEW',
] as const
const member = [...caller, 'ORGANIZATION_NOT_FOUND'] as const
const editor = [...member, 'WRITE_FORBIDDEN'] as const
const identified = ['REQUEST_ID_REUSED'] as const
const body = ['UNSUPPORTED_MEDIA_TYPE', 'BODY_TOO_LARGE', 'MALFORMED_JSON'] as const
const ifMatch = ['INVALID_IF_MATCH', 'FORM_MOVED', 'UPDATE_ABORTED'] as const
const filtered = ['INVALID_PAGE_TOKEN', 'INVALID_FILTER', 'FILTER_TOO_COMPLEX', 'INVALID_ORDER_BY'] as const

const organizationPath = '/organizations/{organizationRef}'
const formPath = `${organizationPath}/forms/{formRef}`
const deletedFormPath = `${organizationPath}/deletedForms/{formRef}`

/** Responses of several operations. */
const page = (contract: z.ZodType, example: unknown) => ({
  description: 'A page.',
  contract,
  examples: { page: example },
})
const writtenForm = (description: string) =>
  ({ description, contract: Form, examples: { form }, etag: 'unless dry run', replayable: true }) as const
const keyWithSecret = (description: string) => ({
  description,
  contract: IssuedKey,
  examples: { key: issuedKey },
})
const nothing = { description: 'An empty object.', contract: EmptyResponse, examples: { deleted: {} } }

/** Every operation of the API, in the order of the document. */
export const operations: Operation[] = [
  {
    id: 'listOrganizations',
    method: 'get',
    path: '/organizations',
    tag: 'Organizations',
    summary: 'List your organizations',
    description:
      'A page of the organizations that the user of the key is a member of, oldest first unless `orderBy` says otherwise. With `all=true` the response has all of them, in the order in which the memberships began.',
    query: ListOrganizationsQuery,
    filterFields: '`createTime`, `name`, `slug`',
    orderFields: '`createTime` (the default), `name`, `slug`',
    response: {
      description: 'A page, or with `all=true` all organizations.',
      contract: z.union([ListOrganizationsResponse, AllOrganizationsResponse]),
      examples: { page: organizationsPage, all: allOrganizations },
    },
    reasons: [...caller, ...filtered, ...service],
  },
  {
    id: 'getOrganization',
    method: 'get',
    path: organizationPath,
    tag: 'Organizations',
    summary: 'Get an organization',
    query: NoQuery,
    response: { description: 'The organization.', contract: Organization, examples: { organization } },
    reasons: [...member, ...service],
  },
  {
    id: 'listForms',
    method: 'get',
    path: `${organizationPath}/forms`,
    tag: 'Forms',
    summary: 'List the forms of an organization',
    description:
      'A page of drafts, most recently updated first unless `orderBy` says otherwise. To read every form while others edit, order by `createTime`.',
    query: ListFormsQuery,
    filterFields:
      '`name`, `publicId`, `type`, `createTime`, `updateTime`; `search("text")` and bare words search in names',
    orderFields: '`name`, `publicId`, `createTime`, `updateTime` (the default, `desc`), `replyCount`',
    response: page(ListFormsResponse, formsPage),
    reasons: [...member, ...filtered, 'FILTER_TOO_EXPENSIVE', ...service],
  },
  {
    id: 'createForm',
    method: 'post',
    path: `${organizationPath}/forms`,
    tag: 'Forms',
    summary: 'Create a form',
    description:
      'Creates a draft. Omitted members of `form` get their defaults; so does `null`, except for `name`, `type` and `defaultMode`. With `formId` you choose the id of the form, which must be new in the organization. Without `requestId` and `formId`, a repeated create creates a second form.',
    query: NoQuery,
    body: {
      contract: CreateFormRequest,
      required: true,
      examples: {
        'only defaults': { form: {} },
        'customer feedback': { form: { name: form.name, steps: form.steps } },
        'safe to repeat, with an id of your own': { form: {}, formId, requestId },
      },
    },
    response: writtenForm('The form.'),
    reasons: [
      ...editor,
      ...body,
      ...identified,
      'FORM_NOT_FOUND',
      'FORM_ID_TAKEN',
      'UPDATE_ABORTED',
      'QUOTA_EXCEEDED',
      ...service,
    ],
  },
  {
    id: 'getForm',
    method: 'get',
    path: formPath,
    tag: 'Forms',
    summary: 'Get a form',
    description: 'The current draft. `live` is true if a revision is live.',
    query: GetQuery,
    requestHeaders: 'if-none-match',
    response: {
      description: 'The form.',
      contract: Form,
      examples: { form },
      etag: 'always',
    },
    reasons: [...member, 'FORM_NOT_FOUND', ...service],
  },
  {
    id: 'updateForm',
    method: 'patch',
    path: formPath,
    tag: 'Forms',
    summary: 'Update a form',
    description:
      '`form` is a JSON Merge Patch (RFC 7396) of the draft. Respondents see the change after the next publish. A patch that changes nothing does not change `updateTime` and the ETag.',
    query: NoQuery,
    requestHeaders: 'if-match',
    body: {
      contract: UpdateFormRequest,
      required: true,
      examples: {
        'another name and colour': {
          form: { name: 'How was it?', theme: { primaryColor: '#0f766e' }, description: null },
        },
      },
    },
    response: writtenForm('The whole form.'),
    reasons: [...editor, 'FORM_NOT_FOUND', ...body, ...identified, ...ifMatch, 'QUOTA_EXCEEDED', ...service],
  },
  {
    id: 'deleteForm',
    method: 'delete',
    path: formPath,
    tag: 'Forms',
    summary: 'Delete a form',
    description:
      'The form and its revisions are invisible at once. Until its `purgeTime`, the form is in the list of deleted forms and can be restored; if the operator has set `DELETED_FORMS_DAYS=0`, it is gone for good. An empty body means `{}`. Proxies may drop the body of a DELETE, so the query also accepts its members; body and query must not disagree.',
    query: DeleteFormQuery,
    requestHeaders: 'if-match',
    body: {
      contract: DeleteFormRequest,
      required: false,
      examples: { 'a dry run': { validateOnly: true }, 'safe to repeat': { requestId } },
    },
    response: { ...nothing, replayable: true },
    reasons: [...editor, 'FORM_NOT_FOUND', ...body, ...identified, ...ifMatch, ...service],
  },
  {
    id: 'listDeletedForms',
    method: 'get',
    path: `${organizationPath}/deletedForms`,
    tag: 'Forms',
    summary: 'List the deleted forms of an organization',
    description: 'A page of the deleted forms that can be restored, most recently deleted first.',
    query: PageQuery,
    response: page(ListDeletedFormsResponse, deletedFormsPage),
    reasons: [...member, 'INVALID_PAGE_TOKEN', 'FILTER_TOO_EXPENSIVE', ...service],
  },
  {
    id: 'undeleteForm',
    method: 'post',
    path: `${deletedFormPath}/undelete`,
    tag: 'Forms',
    summary: 'Restore a deleted form',
    description:
      'Restores the form as it was before its delete: ids, draft, times, revisions, `live` and replies. `If-Match` accepts the ETag that it had. An empty body means `{}`.',
    query: NoQuery,
    requestHeaders: 'if-match',
    body: {
      contract: UndeleteFormRequest,
      required: false,
      examples: { 'safe to repeat': { requestId } },
    },
    response: writtenForm('The form.'),
    reasons: [
      ...editor,
      'FORM_NOT_FOUND',
      'DELETED_FORM_NOT_FOUND',
      ...body,
      ...identified,
      ...ifMatch,
      'FORM_ID_TAKEN',
      'QUOTA_EXCEEDED',
      ...service,
    ],
  },
  {
    id: 'purgeForm',
    method: 'delete',
    path: deletedFormPath,
    tag: 'Forms',
    summary: 'Purge a deleted form',
    description:
      'Removes a deleted form, its revisions and its replies for good before its `purgeTime`, and frees its ids. Only for owners. `If-Match` accepts the ETag that the form had. Body and query are those of a delete.',
    query: DeleteFormQuery,
    requestHeaders: 'if-match',
    body: {
      contract: DeleteFormRequest,
      required: false,
      examples: { 'a dry run': { validateOnly: true }, 'safe to repeat': { requestId } },
    },
    response: { ...nothing, replayable: true },
    reasons: [
      ...editor,
      'OWNER_REQUIRED',
      'DELETED_FORM_NOT_FOUND',
      ...body,
      ...identified,
      ...ifMatch,
      ...service,
    ],
  },
  {
    id: 'publishForm',
    method: 'post',
    path: `${formPath}/publish`,
    tag: 'Forms',
    summary: 'Publish a form',
    description:
      'Freezes the draft as a new revision and makes it the one that respondents see. A read right after the response returns it. An empty body means `{}`. With a `requestId` the request is safe to repeat. With `refuseBreaking`, the draft is compared with the revision that is live at that time.',
    query: NoQuery,
    requestHeaders: 'if-match',
    body: {
      contract: PublishFormRequest,
      required: false,
      examples: {
        'safe to repeat': { requestId },
        'with a note, and without orphaned answers': { note: revision.note, refuseBreaking: true },
      },
    },
    response: {
      description: 'The form, `live: true`.',
      contract: Form,
      examples: { form: { ...form, live: true } },
      etag: 'unless dry run',
    },
    reasons: [
      ...editor,
      'FORM_NOT_FOUND',
      ...body,
      ...ifMatch,
      ...identified,
      'QUOTA_EXCEEDED',
      'DRAFT_NOT_PUBLISHABLE',
      'BREAKING_CHANGES',
      'PUBLISHING_UNAVAILABLE',
      'PUBLISH_TIMEOUT',
    ],
  },
  {
    id: 'unpublishForm',
    method: 'post',
    path: `${formPath}/unpublish`,
    tag: 'Forms',
    summary: 'Take a form down',
    description:
      'Respondents no longer see the form: no revision is live until the next publish. The draft and all revisions stay. An empty body means `{}`. Only a publish that begins later makes the form live again, not the repeat of an earlier one.',
    query: NoQuery,
    requestHeaders: 'if-match',
    body: {
      contract: UnpublishFormRequest,
      required: false,
      examples: { 'with a reason, and safe to repeat': { note: 'The price was wrong.', requestId } },
    },
    response: writtenForm('The form, `live: false`.'),
    reasons: [...editor, 'FORM_NOT_FOUND', ...body, ...identified, ...ifMatch, 'FORM_NOT_LIVE', ...service],
  },
  {
    id: 'listRevisions',
    method: 'get',
    path: `${formPath}/revisions`,
    tag: 'Revisions',
    summary: 'List the revisions of a form',
    description: 'A page of revisions, newest first.',
    query: ListRevisionsQuery,
    response: page(ListRevisionsResponse, revisionsPage),
    reasons: [...member, 'FORM_NOT_FOUND', 'INVALID_PAGE_TOKEN', 'FILTER_TOO_EXPENSIVE', ...service],
  },
  {
    id: 'getRevision',
    method: 'get',
    path: `${formPath}/revisions/{revisionRef}`,
    tag: 'Revisions',
    summary: 'Get a revision',
    description:
      'Only a revision addressed as `live` has the current `form.aiHandoff` of the draft; its other members are those of the snapshot. Its ETag changes when another revision becomes live, or when the `aiHandoff` of the draft changes. The ETag of a revision addressed by its UUID changes when it becomes live or stops being live.',
    query: GetQuery,
    requestHeaders: 'if-none-match',
    response: { description: 'The revision.', contract: Revision, examples: { revision }, etag: 'always' },
    reasons: [...member, 'FORM_NOT_FOUND', 'REVISION_NOT_FOUND', ...service],
  },
  {
    id: 'rollbackForm',
    method: 'post',
    path: `${formPath}/revisions/{revisionRef}/rollback`,
    tag: 'Revisions',
    summary: 'Roll the draft back to a revision',
    description:
      'Replaces all fields of the draft with those of the revision, except for `aiHandoff`, whose change respondents would see without a publish. Nothing is published. A rollback to `live` discards all edits since the last publish. A draft that already equals the revision does not change. An empty body means `{}`.',
    query: NoQuery,
    requestHeaders: 'if-match',
    body: {
      contract: RollbackFormRequest,
      required: false,
      examples: { 'a dry run': { validateOnly: true }, 'safe to repeat': { requestId } },
    },
    response: writtenForm('The form with its new draft.'),
    reasons: [
      ...editor,
      'FORM_NOT_FOUND',
      'REVISION_NOT_FOUND',
      ...body,
      ...identified,
      ...ifMatch,
      'REVISION_NOT_RESTORABLE',
      'QUOTA_EXCEEDED',
      ...service,
    ],
  },
  {
    id: 'listEvents',
    method: 'get',
    path: `${organizationPath}/events`,
    tag: 'Events',
    summary: 'List the events of an organization',
    description:
      'A page of the log, oldest first. To follow the log, request the events after the last `sequence` that you have handled: none is missing or repeated. With a `filter` a page may have fewer events than `pageSize`, or none, and still have a `nextPageToken`. After a page without `nextPageToken`, continue with its `lastSequence` as `afterSequence`. While a publisher runs, an event appears within a second of its change.',
    query: ListEventsQuery,
    filterFields: '`type` (`=`, `!=`, `*`), `form` and `user` (UUIDs), `time`',
    orderFields: '`sequence` (the default)',
    response: page(ListEventsResponse, eventsPage),
    reasons: [...member, ...filtered, 'EVENTS_PRUNED', ...service],
  },
  {
    id: 'streamEvents',
    method: 'get',
    path: `${organizationPath}/events/stream`,
    tag: 'Events',
    summary: 'Stream the events of an organization',
    description:
      'Server-sent events: `id` is the `sequence`, `event` the type, `data` the event as JSON. Every five seconds there is a comment, with the current position as `id`. The stream ends when the service restarts, and within five seconds of the end of the key or the membership: resume with the last `id` as `Last-Event-ID`. A key may have 5 streams open at once. The service closes the connection of a client that does not read its events.',
    query: StreamEventsQuery,
    filterFields: '`type` (`=`, `!=`, `*`), `form` and `user` (UUIDs), `time`',
    requestHeaders: 'last-event-id',
    response: {
      description: 'A stream without end.',
      contract: z.string(),
      mediaType: 'text/event-stream',
      examples: { stream: eventStream },
    },
    reasons: [
      ...member,
      'TOO_MANY_STREAMS',
      'INVALID_FILTER',
      'FILTER_TOO_COMPLEX',
      'AFTER_LAST_EVENT',
      'EVENTS_PRUNED',
      ...service,
    ],
  },
  {
    id: 'getEvent',
    method: 'get',
    path: `${organizationPath}/events/{eventId}`,
    tag: 'Events',
    summary: 'Get an event',
    query: NoQuery,
    response: { description: 'The event.', contract: FormEvent, examples: { event } },
    reasons: [...member, 'EVENT_NOT_FOUND', ...service],
  },
  {
    id: 'getChanges',
    method: 'get',
    path: `${formPath}/changes`,
    tag: 'Revisions',
    summary: 'Compare two states of a form',
    description:
      'The differences between two states of a form, by default between the live revision and the draft: what a publish would change. Steps are matched by `key`, options by `key`, `id`, `value` or text, and translations by locale and step key; other arrays are compared as a whole. For the draft, the response also says whether it can be published.',
    query: ChangesQuery,
    response: {
      description: 'The differences.',
      contract: FormChanges,
      examples: { changes: formChanges },
    },
    reasons: [...member, 'FORM_NOT_FOUND', 'REVISION_NOT_FOUND', ...service],
  },
  {
    id: 'getWhoami',
    method: 'get',
    path: '/whoami',
    tag: 'Keys',
    summary: 'Get the caller',
    description:
      'The user of the key, the key, and all organizations that the user is a member of, with the roles.',
    query: NoQuery,
    response: { description: 'The caller.', contract: Whoami, examples: { whoami } },
    reasons: [...caller, ...service],
  },
  {
    id: 'listKeys',
    method: 'get',
    path: '/keys',
    tag: 'Keys',
    summary: 'List your keys',
    description:
      'A page of the keys of your user, newest first, without revoked and expired ones and without secrets. `lastUsedTime` is accurate to a minute.',
    query: PageQuery,
    response: page(ListKeysResponse, keysPage),
    reasons: [...caller, 'INVALID_PAGE_TOKEN', ...service],
  },
  {
    id: 'createKey',
    method: 'post',
    path: '/keys',
    tag: 'Keys',
    summary: 'Create a key',
    description:
      'Creates a key of your user. The response is the only one with its secret. A read-only key cannot create keys, and a key that expires cannot create one that works for longer. A user with 100 keys cannot create another one. A repeat with the same `requestId` creates no second key: it is a 409 with the path of the first one, whose secret cannot be shown again.',
    query: NoQuery,
    body: {
      contract: CreateKeyRequest,
      required: true,
      examples: { 'for a dashboard': { key: { name: 'Dashboard', readOnly: true } } },
    },
    response: keyWithSecret('The key and its secret. In a dry run the secret is empty.'),
    reasons: [
      ...caller,
      'WRITE_FORBIDDEN',
      ...body,
      'KEY_OUTLIVES_CALLER',
      'TOO_MANY_KEYS',
      'KEY_ALREADY_CREATED',
      ...service,
    ],
  },
  {
    id: 'rotateKey',
    method: 'post',
    path: '/keys/{keyId}/rotate',
    tag: 'Keys',
    summary: 'Replace a key',
    description:
      'Creates a key with the name, rights and `expireTime` of one of your keys. The old key works for `overlapSeconds` more, at most until its own `expireTime`. Without `overlapSeconds`, the old key is revoked, everywhere within a second: if it is the key of the request and the response is lost, you have no key. A read-only key can rotate only itself, and only without an overlap. An empty body means `{}`. If you get no response, list your keys before you repeat the request.',
    query: NoQuery,
    body: {
      contract: RotateKeyRequest,
      required: false,
      examples: { 'a day for both keys': { overlapSeconds: 86_400 } },
    },
    response: keyWithSecret('The new key and its secret. In a dry run the secret is empty.'),
    reasons: [
      ...caller,
      'WRITE_FORBIDDEN',
      ...body,
      'KEY_NOT_FOUND',
      'KEY_OUTLIVES_CALLER',
      'TOO_MANY_KEYS',
      ...service,
    ],
  },
  {
    id: 'deleteKey',
    method: 'delete',
    path: '/keys/{keyId}',
    tag: 'Keys',
    summary: 'Revoke a key',
    description:
      'Revokes one of your keys, everywhere within a second. A read-only key can revoke itself. An empty body means `{}`. Proxies may drop the body of a DELETE, so the query also accepts `validateOnly`; body and query must not disagree.',
    query: DeleteKeyQuery,
    body: {
      contract: DeleteKeyRequest,
      required: false,
      examples: { 'a dry run': { validateOnly: true } },
    },
    response: nothing,
    reasons: [...caller, 'WRITE_FORBIDDEN', ...body, 'KEY_NOT_FOUND', ...service],
  },
  {
    id: 'createSession',
    method: 'post',
    path: '/sessions',
    tag: 'Keys',
    summary: 'Sign in with a login code',
    description:
      'Exchanges the one-time code of a login link, which `formctl user login-link` prints, for a key with the name `Console` that works for 12 hours. Needs no key. A code works only once, within 15 minutes. To sign out, delete the key. The body has at most 4 KiB.',
    query: NoQuery,
    body: {
      contract: CreateSessionRequest,
      required: true,
      examples: { code: { code: 'the code of the link' } },
    },
    response: { description: 'The key and its secret.', contract: IssuedKey, examples: { session } },
    reasons: [...everyOperation, ...body, 'LOGIN_CODE_INVALID', 'TOO_MANY_KEYS', 'OVERLOADED', ...service],
  },
  {
    id: 'getOpenApi',
    method: 'get',
    path: '/openapi.json',
    tag: 'Reference',
    summary: 'Get this document',
    query: NoQuery,
    response: {
      description: 'OpenAPI 3.1.',
      contract: z.looseObject({ openapi: z.string() }),
    },
    reasons: everyOperation,
  },
  {
    id: 'getDocs',
    method: 'get',
    path: '/docs',
    tag: 'Reference',
    summary: 'Get the reference page',
    query: NoQuery,
    response: { description: 'An HTML page.', contract: z.string(), mediaType: 'text/html' },
    reasons: everyOperation,
  },
  {
    id: 'getConsole',
    method: 'get',
    path: '/console',
    tag: 'Reference',
    summary: 'Get the console',
    query: NoQuery,
    response: { description: 'An HTML page.', contract: z.string(), mediaType: 'text/html' },
    reasons: [...everyOperation, 'CONSOLE_NOT_BUILT'],
  },
]
