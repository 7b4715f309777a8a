import {
  AllOrganizationsResponse,
  CreateFormRequest,
  DeleteFormQuery,
  DeleteFormRequest,
  DeleteFormResponse,
  Form,
  ListFormsResponse,
  ListOrganizationsQuery,
  ListOrganizationsResponse,
  ListQuery,
  ListRevisionsResponse,
  NoQuery,
  Organization,
  PageQuery,
  PublishFormRequest,
  Revision,
  UpdateFormRequest,
} from '@fms/contracts'
import { z } from 'zod'
import {
  allOrganizations,
  form,
  formsPage,
  organization,
  organizationsPage,
  revision,
  revisionsPage,
} from './examples.ts'
import type { ReasonName } from './reasons.ts'

/** One line of the API, as a reader of the document wants to know it. */
export interface Operation {
  id: string
  method: 'get' | 'post' | 'patch' | 'delete'
  /** Under `/v2`; its parameters are those of {@link pathParameters}. */
  path: string
  tag: (typeof tags)[number]['name']
  summary: string
  description?: string
  query: z.ZodObject
  /** What the list's `filter` and `orderBy` may name. */
  filterFields?: string
  orderFields?: string
  requestHeaders?: 'if-match' | 'if-none-match'
  body?: { contract: z.ZodType; required: boolean; examples: Record<string, unknown> }
  answer: {
    description: string
    contract: z.ZodType
    mediaType?: string
    examples?: Record<string, unknown>
    etag?: 'always' | 'unless dry'
  }
  reasons: readonly ReasonName[]
}

export const tags = [
  { name: 'Organizations', description: 'The owners of forms. Operators make and change them.' },
  {
    name: 'Forms',
    description: 'A form is a draft. Edits change the draft only; respondents see what was published last.',
  },
  { name: 'Revisions', description: 'Drafts as they were published. A revision never changes.' },
  { name: 'Reference', description: 'What describes this API. No key is needed.' },
] as const

export const pathParameters: Record<string, { description: string; example: string }> = {
  organizationRef: {
    description:
      "The organization's UUID, or its slug. `-` where a form, or its revision `live`, is read by `publicId`: whichever of your organizations has it (AIP-159).",
    example: 'demo',
  },
  formRef: { description: "The form's UUID, or its `publicId`.", example: 'Ab3dE6gH9j' },
  revisionRef: { description: "The revision's UUID, or `live`.", example: 'live' },
}

const anybody = ['INVALID_REQUEST', 'MALFORMED_REQUEST', 'INTERNAL'] as const
const caller = [
  ...anybody,
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
  'STORE_SCHEMA_TOO_NEW',
] as const
const member = [...caller, 'ORGANIZATION_NOT_FOUND'] as const
const editor = [...member, 'WRITE_FORBIDDEN'] as const
const body = ['UNSUPPORTED_MEDIA_TYPE', 'BODY_TOO_LARGE', 'MALFORMED_JSON'] as const
const ifMatch = ['INVALID_IF_MATCH', 'FORM_MOVED', 'UPDATE_ABORTED'] as const
const filtered = ['INVALID_PAGE_TOKEN', 'INVALID_FILTER', 'FILTER_TOO_COMPLEX', 'INVALID_ORDER_BY'] as const

const ofOrganization = '/organizations/{organizationRef}'
const ofForm = `${ofOrganization}/forms/{formRef}`

/** Every operation of the API, in the order in which a reader meets them. */
export const operations: Operation[] = [
  {
    id: 'listOrganizations',
    method: 'get',
    path: '/organizations',
    tag: 'Organizations',
    summary: 'List your organizations',
    description:
      'A page of the organizations that the user of the key is a member of, oldest first unless `orderBy` says otherwise. With `all=true` every one of them at once, in the order in which the memberships began.',
    query: ListOrganizationsQuery,
    filterFields: '`createTime`, `name`, `slug`',
    orderFields: '`createTime` (the default), `name`, `slug`',
    answer: {
      description: 'A page, or with `all=true` everything.',
      contract: z.union([ListOrganizationsResponse, AllOrganizationsResponse]),
      examples: { page: organizationsPage, all: allOrganizations },
    },
    reasons: [...caller, ...filtered, ...service],
  },
  {
    id: 'getOrganization',
    method: 'get',
    path: ofOrganization,
    tag: 'Organizations',
    summary: 'Get an organization',
    query: NoQuery,
    answer: { description: 'The organization.', contract: Organization, examples: { organization } },
    reasons: [...member, ...service],
  },
  {
    id: 'listForms',
    method: 'get',
    path: `${ofOrganization}/forms`,
    tag: 'Forms',
    summary: 'List the forms of an organization',
    description:
      'A page of drafts, most recently updated first unless `orderBy` says otherwise. To read every form while others work, order by `createTime`.',
    query: ListQuery,
    filterFields:
      '`name`, `publicId`, `type`, `createTime`, `updateTime`; `search("text")` and bare words look into names',
    orderFields: '`name`, `publicId`, `createTime`, `updateTime` (the default, `desc`), `replyCount`',
    answer: { description: 'A page.', contract: ListFormsResponse, examples: { page: formsPage } },
    reasons: [...member, ...filtered, 'FILTER_TOO_EXPENSIVE', ...service],
  },
  {
    id: 'createForm',
    method: 'post',
    path: `${ofOrganization}/forms`,
    tag: 'Forms',
    summary: 'Create a form',
    description:
      'Makes a draft. Whatever `form` leaves out takes its default; `null` means the same as leaving out, but for `name`, `type` and `defaultMode`. A create that is repeated makes a second form.',
    query: NoQuery,
    body: {
      contract: CreateFormRequest,
      required: true,
      examples: {
        'with defaults alone': { form: {} },
        'customer feedback': { form: { name: form.name, steps: form.steps } },
      },
    },
    answer: { description: 'The form.', contract: Form, examples: { form }, etag: 'unless dry' },
    reasons: [...editor, ...body, 'QUOTA_EXCEEDED', ...service],
  },
  {
    id: 'getForm',
    method: 'get',
    path: ofForm,
    tag: 'Forms',
    summary: 'Get a form',
    description: 'The current draft. `live` says whether a revision is published.',
    query: NoQuery,
    requestHeaders: 'if-none-match',
    answer: { description: 'The form.', contract: Form, examples: { form }, etag: 'always' },
    reasons: [...member, 'FORM_NOT_FOUND', ...service],
  },
  {
    id: 'updateForm',
    method: 'patch',
    path: ofForm,
    tag: 'Forms',
    summary: 'Update a form',
    description:
      '`form` is a JSON Merge Patch (RFC 7396) of the draft. Respondents see nothing of it before the next publish. A patch that changes nothing leaves `updateTime` and the ETag alone.',
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
    answer: { description: 'The whole form.', contract: Form, examples: { form }, etag: 'unless dry' },
    reasons: [...editor, 'FORM_NOT_FOUND', ...body, ...ifMatch, 'QUOTA_EXCEEDED', ...service],
  },
  {
    id: 'deleteForm',
    method: 'delete',
    path: ofForm,
    tag: 'Forms',
    summary: 'Delete a form',
    description:
      'The revisions of the form go with it. No body at all means `{}`. Since proxies may drop the body of a DELETE, the query can ask for a dry run, too; the two must not disagree.',
    query: DeleteFormQuery,
    requestHeaders: 'if-match',
    body: {
      contract: DeleteFormRequest,
      required: false,
      examples: { 'a dry run': { validateOnly: true } },
    },
    answer: { description: 'Nothing to tell.', contract: DeleteFormResponse, examples: { deleted: {} } },
    reasons: [...editor, 'FORM_NOT_FOUND', ...body, ...ifMatch, ...service],
  },
  {
    id: 'publishForm',
    method: 'post',
    path: `${ofForm}/publish`,
    tag: 'Forms',
    summary: 'Publish a form',
    description:
      'Freezes the draft as a new revision and makes it the one that respondents see. A read right after the answer sees it. No body at all means `{}`. With a `requestId` it is safe to repeat.',
    query: NoQuery,
    requestHeaders: 'if-match',
    body: {
      contract: PublishFormRequest,
      required: false,
      examples: { 'safe to repeat': { requestId: '3f0c9a52-8a0f-4f55-8c59-0a3b1d2e4f60' } },
    },
    answer: {
      description: 'The form, `live: true`.',
      contract: Form,
      examples: { form: { ...form, live: true } },
      etag: 'unless dry',
    },
    reasons: [
      ...editor,
      'FORM_NOT_FOUND',
      ...body,
      ...ifMatch,
      'REQUEST_ID_REUSED',
      'QUOTA_EXCEEDED',
      'DRAFT_NOT_PUBLISHABLE',
      'PUBLISHING_UNAVAILABLE',
      'PUBLISH_TIMEOUT',
    ],
  },
  {
    id: 'listRevisions',
    method: 'get',
    path: `${ofForm}/revisions`,
    tag: 'Revisions',
    summary: 'List the revisions of a form',
    description: 'A page of revisions, newest first.',
    query: PageQuery,
    answer: { description: 'A page.', contract: ListRevisionsResponse, examples: { page: revisionsPage } },
    reasons: [...member, 'FORM_NOT_FOUND', 'INVALID_PAGE_TOKEN', 'FILTER_TOO_EXPENSIVE', ...service],
  },
  {
    id: 'getRevision',
    method: 'get',
    path: `${ofForm}/revisions/{revisionRef}`,
    tag: 'Revisions',
    summary: 'Get a revision',
    description:
      'Addressed as `live`, and only then, a revision shows `form.aiHandoff` as the draft has it now. All else is the snapshot. The ETag of `live` changes when another revision goes live, or with that member; that of a revision by its UUID, when it becomes live or ceases to be.',
    query: NoQuery,
    requestHeaders: 'if-none-match',
    answer: { description: 'The revision.', contract: Revision, examples: { revision }, etag: 'always' },
    reasons: [...member, 'FORM_NOT_FOUND', 'REVISION_NOT_FOUND', ...service],
  },
  {
    id: 'getOpenApi',
    method: 'get',
    path: '/openapi.json',
    tag: 'Reference',
    summary: 'Get this document',
    query: NoQuery,
    answer: {
      description: 'OpenAPI 3.1.',
      contract: z.looseObject({ openapi: z.string() }),
    },
    reasons: anybody,
  },
  {
    id: 'getDocs',
    method: 'get',
    path: '/docs',
    tag: 'Reference',
    summary: 'Get the reference page',
    query: NoQuery,
    answer: { description: 'A page for people.', contract: z.string(), mediaType: 'text/html' },
    reasons: anybody,
  },
]
