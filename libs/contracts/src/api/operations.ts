import { z } from 'zod'
import { ChangesQuery, FormChanges, FormCheck } from '../changes.ts'
import { ListDeletedFormsResponse } from '../deleted-form.ts'
import { FormEvent } from '../event.ts'
import { Form, formFilterNames, formOrderFields } from '../form.ts'
import {
  CreateKeyRequest,
  CreateSessionRequest,
  DeleteKeyQuery,
  DeleteKeyRequest,
  IssuedKey,
  ListKeysResponse,
  RotateKeyRequest,
  Session,
  Whoami,
} from '../key.ts'
import { AllOrganizationsResponse, ListOrganizationsResponse, Organization } from '../organization.ts'
import {
  CheckFormRequest,
  CreateFormRequest,
  DeleteFormQuery,
  DeleteFormRequest,
  EmptyResponse,
  GetQuery,
  ListEventsQuery,
  ListEventsResponse,
  ListFormsQuery,
  ListFormsResponse,
  ListOrganizationsQuery,
  ListRevisionsQuery,
  ListRevisionsResponse,
  OpenApiQuery,
  PageQuery,
  PublishFormRequest,
  RollbackFormRequest,
  StreamEventsQuery,
  UndeleteFormRequest,
  UnpublishFormRequest,
  UpdateFormRequest,
} from '../requests.ts'
import { Revision } from '../revision.ts'
import type { ReasonName } from './reasons.ts'

export interface Operation {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Without `/v2`. Parameters are in braces. */
  path: string
  /** What carries it out. The gateway forwards requests to organizations and forms, and commands to the publisher. */
  service: 'organizations' | 'forms' | 'publisher' | 'gateway'
  /**
   * Who may request it: anyone, whoever has a key, a writer (an editor or owner whose key is not read-only) or an owner.
   * In an organization, only its members.
   */
  access: 'anyone' | 'reader' | 'writer' | 'owner'
  /** Its cost in the admission queue, by default that of the request: see `isExpensive` in the gateway, and `refuseBreaking`. */
  cost?: 'expensive' | 'list' | 'stream'
  tag: 'Organizations' | 'Forms' | 'Revisions' | 'Events' | 'Keys' | 'Reference'
  summary: string
  /** Markdown. */
  description?: string
  /** By default, every parameter is rejected. */
  query?: z.ZodObject
  /** The fields of `filter`, in Markdown. */
  filterFields?: string
  orderFields?: readonly string[]
  /** A request header with a meaning of its own. */
  header?: 'if-match' | 'if-none-match' | 'last-event-id'
  /** May be omitted if the schema has a default. */
  body?: z.ZodType
  /** The body contains a form, so it may have 1 MiB instead of 16 KiB. */
  sendsForm?: true
  response: {
    description: string
    schema: z.ZodType
    /** By default JSON. */
    mediaType?: string
    hasETag?: true
    /** The response of a repeat has the header `x-request-replayed`. */
    isReplayable?: true
  }
  /** Its reasons besides those of {@link reasonsOf}. */
  reasons?: readonly ReasonName[]
}

const organizationPath = '/organizations/{organizationRef}'
const formPath = `${organizationPath}/forms/{formRef}`
const deletedFormPath = `${organizationPath}/deletedForms/{formRef}`

/** Names as code in Markdown. */
export const codes = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ')

const page = (schema: z.ZodType) => ({ description: 'A page.', schema })
const writtenForm = (description: string) =>
  ({ description, schema: Form, hasETag: true, isReplayable: true }) as const
const nothing = { description: 'An empty object.', schema: EmptyResponse }
const html = { description: 'An HTML page.', schema: z.string(), mediaType: 'text/html' }

/** Every operation of the API, by id, in the order of the OpenAPI document. */
export const operations = {
  listOrganizations: {
    method: 'GET',
    path: '/organizations',
    service: 'organizations',
    access: 'reader',
    cost: 'list',
    tag: 'Organizations',
    summary: 'List your organizations',
    description:
      'A page of the organizations that the user of the key is a member of, oldest first unless `orderBy` says otherwise. With `all=true` the response has all of them, in the order in which the memberships began.',
    query: ListOrganizationsQuery,
    filterFields: '`createTime`, `name`, `slug`',
    orderFields: ['createTime', 'name', 'slug'],
    response: {
      description: 'A page, or with `all=true` all organizations.',
      schema: z.union([ListOrganizationsResponse, AllOrganizationsResponse]),
    },
  },
  getOrganization: {
    method: 'GET',
    path: organizationPath,
    service: 'organizations',
    access: 'reader',
    tag: 'Organizations',
    summary: 'Get an organization',
    response: { description: 'The organization.', schema: Organization },
  },
  listForms: {
    method: 'GET',
    path: `${organizationPath}/forms`,
    service: 'forms',
    access: 'reader',
    cost: 'list',
    tag: 'Forms',
    summary: 'List the forms of an organization',
    description:
      'A page of drafts, most recently updated first unless `orderBy` says otherwise. To read every form while others edit, order by `createTime`.',
    query: ListFormsQuery,
    filterFields: `${codes(formFilterNames)}; \`search("text")\` and bare words search in names`,
    orderFields: formOrderFields,
    response: page(ListFormsResponse),
    reasons: ['FILTER_TOO_EXPENSIVE'],
  },
  createForm: {
    method: 'POST',
    path: `${organizationPath}/forms`,
    service: 'forms',
    access: 'writer',
    tag: 'Forms',
    summary: 'Create a form',
    description:
      'Creates a draft. Omitted members of `form` get their defaults; so does `null`, except for `name`, `type` and `defaultMode`. With `formId` you choose the id of the form, which must be new in the organization. Without `requestId` and `formId`, a repeated create creates a second form.',
    body: CreateFormRequest,
    sendsForm: true,
    response: writtenForm('The form.'),
    reasons: ['FORM_NOT_FOUND', 'FORM_ID_TAKEN', 'UPDATE_ABORTED', 'QUOTA_EXCEEDED'],
  },
  checkForm: {
    method: 'POST',
    path: `${organizationPath}/forms/check`,
    service: 'forms',
    access: 'reader',
    tag: 'Forms',
    summary: 'Check a form',
    description:
      'Whether a form, as a create takes it, could be published, and warnings: what respondents would stumble over. Warnings prevent neither a write nor a publish. Stores nothing and costs no quota; viewers and read-only keys may check, too.',
    body: CheckFormRequest,
    sendsForm: true,
    response: { description: 'What the check found.', schema: FormCheck },
  },
  getForm: {
    method: 'GET',
    path: formPath,
    service: 'forms',
    access: 'reader',
    tag: 'Forms',
    summary: 'Get a form',
    description: 'The current draft. `live` is true if a revision is live.',
    query: GetQuery,
    header: 'if-none-match',
    response: { description: 'The form.', schema: Form, hasETag: true },
  },
  updateForm: {
    method: 'PATCH',
    path: formPath,
    service: 'forms',
    access: 'writer',
    tag: 'Forms',
    summary: 'Update a form',
    description:
      '`form` is a JSON Merge Patch (RFC 7396) of the draft. Respondents see the change after the next publish. A patch that changes nothing does not change `updateTime` and the ETag.',
    header: 'if-match',
    body: UpdateFormRequest,
    sendsForm: true,
    response: writtenForm('The whole form.'),
    reasons: ['QUOTA_EXCEEDED'],
  },
  deleteForm: {
    method: 'DELETE',
    path: formPath,
    service: 'forms',
    access: 'writer',
    cost: 'expensive',
    tag: 'Forms',
    summary: 'Delete a form',
    description:
      'The form and its revisions are invisible at once. Until its `purgeTime`, the form is in the list of deleted forms and can be restored; if the operator has set `DELETED_FORMS_DAYS=0`, it is gone for good. An empty body means `{}`. Proxies may drop the body of a DELETE, so the query also accepts its members; body and query must not disagree.',
    query: DeleteFormQuery,
    header: 'if-match',
    body: DeleteFormRequest,
    response: { ...nothing, isReplayable: true },
  },
  listDeletedForms: {
    method: 'GET',
    path: `${organizationPath}/deletedForms`,
    service: 'forms',
    access: 'reader',
    cost: 'list',
    tag: 'Forms',
    summary: 'List the deleted forms of an organization',
    description: 'A page of the deleted forms that can be restored, most recently deleted first.',
    query: PageQuery,
    response: page(ListDeletedFormsResponse),
    reasons: ['FILTER_TOO_EXPENSIVE'],
  },
  undeleteForm: {
    method: 'POST',
    path: `${deletedFormPath}/undelete`,
    service: 'forms',
    access: 'writer',
    cost: 'expensive',
    tag: 'Forms',
    summary: 'Restore a deleted form',
    description:
      'Restores the form as it was before its delete: ids, draft, times, revisions, `live` and replies. `If-Match` accepts the ETag that it had. An empty body means `{}`.',
    header: 'if-match',
    body: UndeleteFormRequest,
    response: writtenForm('The form.'),
    reasons: ['FORM_NOT_FOUND', 'FORM_ID_TAKEN', 'QUOTA_EXCEEDED'],
  },
  purgeForm: {
    method: 'DELETE',
    path: deletedFormPath,
    service: 'forms',
    access: 'owner',
    cost: 'expensive',
    tag: 'Forms',
    summary: 'Purge a deleted form',
    description:
      'Removes a deleted form, its revisions and its replies for good before its `purgeTime`, and frees its ids. Only for owners. `If-Match` accepts the ETag that the form had. Body and query are those of a delete.',
    query: DeleteFormQuery,
    header: 'if-match',
    body: DeleteFormRequest,
    response: { ...nothing, isReplayable: true },
  },
  publishForm: {
    method: 'POST',
    path: `${formPath}/publish`,
    service: 'publisher',
    access: 'writer',
    tag: 'Forms',
    summary: 'Publish a form',
    description:
      'Freezes the draft as a new revision and makes it the one that respondents see. A read right after the response returns it. An empty body means `{}`. With a `requestId` the request is safe to repeat. With `refuseBreaking`, the draft is compared with the revision that is live at that time.',
    header: 'if-match',
    body: PublishFormRequest,
    response: { description: 'The form, `live: true`.', schema: Form, hasETag: true },
    reasons: [
      'QUOTA_EXCEEDED',
      'DRAFT_NOT_PUBLISHABLE',
      'BREAKING_CHANGES',
      'PUBLISHING_UNAVAILABLE',
      'PUBLISH_TIMEOUT',
    ],
  },
  unpublishForm: {
    method: 'POST',
    path: `${formPath}/unpublish`,
    service: 'forms',
    access: 'writer',
    tag: 'Forms',
    summary: 'Take a form down',
    description:
      'Respondents no longer see the form: no revision is live until the next publish. The draft and all revisions stay. An empty body means `{}`. Only a publish that begins later makes the form live again, not the repeat of an earlier one.',
    header: 'if-match',
    body: UnpublishFormRequest,
    response: writtenForm('The form, `live: false`.'),
    reasons: ['FORM_NOT_LIVE'],
  },
  listRevisions: {
    method: 'GET',
    path: `${formPath}/revisions`,
    service: 'forms',
    access: 'reader',
    cost: 'list',
    tag: 'Revisions',
    summary: 'List the revisions of a form',
    description: 'A page of revisions, newest first.',
    query: ListRevisionsQuery,
    response: page(ListRevisionsResponse),
    reasons: ['FILTER_TOO_EXPENSIVE'],
  },
  getRevision: {
    method: 'GET',
    path: `${formPath}/revisions/{revisionRef}`,
    service: 'forms',
    access: 'reader',
    tag: 'Revisions',
    summary: 'Get a revision',
    description:
      'Only a revision addressed as `live` has the current `form.aiHandoff` of the draft; its other members are those of the snapshot. Its ETag changes when another revision becomes live, or when the `aiHandoff` of the draft changes. The ETag of a revision addressed by its UUID changes when it becomes live or stops being live.',
    query: GetQuery,
    header: 'if-none-match',
    response: { description: 'The revision.', schema: Revision, hasETag: true },
  },
  rollbackForm: {
    method: 'POST',
    path: `${formPath}/revisions/{revisionRef}/rollback`,
    service: 'forms',
    access: 'writer',
    cost: 'expensive',
    tag: 'Revisions',
    summary: 'Roll the draft back to a revision',
    description:
      'Replaces all fields of the draft with those of the revision, except for `aiHandoff`, whose change respondents would see without a publish. Nothing is published. A rollback to `live` discards all edits since the last publish. A draft that already equals the revision does not change. An empty body means `{}`.',
    header: 'if-match',
    body: RollbackFormRequest,
    response: writtenForm('The form with its new draft.'),
    reasons: ['REVISION_NOT_RESTORABLE', 'QUOTA_EXCEEDED'],
  },
  listEvents: {
    method: 'GET',
    path: `${organizationPath}/events`,
    service: 'forms',
    access: 'reader',
    cost: 'list',
    tag: 'Events',
    summary: 'List the events of an organization',
    description:
      'A page of the log, oldest first. To follow the log, request the events after the last `sequence` that you have handled: none is missing or repeated. With a `filter` a page may have fewer events than `pageSize`, or none, and still have a `nextPageToken`. After a page without `nextPageToken`, continue with its `lastSequence` as `afterSequence`. While a publisher runs, an event appears within a second of its change.',
    query: ListEventsQuery,
    filterFields: '`type` (`=`, `!=`, `*`), `form` and `user` (UUIDs), `time`',
    orderFields: ['sequence'],
    response: page(ListEventsResponse),
    reasons: ['AFTER_LAST_EVENT', 'EVENTS_PRUNED'],
  },
  streamEvents: {
    method: 'GET',
    path: `${organizationPath}/events/stream`,
    service: 'forms',
    access: 'reader',
    cost: 'stream',
    tag: 'Events',
    summary: 'Stream the events of an organization',
    description:
      'Server-sent events: `id` is the `sequence`, `event` the type, `data` the event as JSON. Every five seconds there is a comment, with the current position as `id`. The stream ends when the service restarts, and within five seconds of the end of the key or the membership: resume with the last `id` as `Last-Event-ID`. A key may have 5 streams open at once. The service closes the connection of a client that does not read its events.',
    query: StreamEventsQuery,
    filterFields: '`type` (`=`, `!=`, `*`), `form` and `user` (UUIDs), `time`',
    header: 'last-event-id',
    response: { description: 'A stream without end.', schema: z.string(), mediaType: 'text/event-stream' },
    reasons: ['TOO_MANY_STREAMS', 'AFTER_LAST_EVENT', 'EVENTS_PRUNED'],
  },
  getEvent: {
    method: 'GET',
    path: `${organizationPath}/events/{eventId}`,
    service: 'forms',
    access: 'reader',
    tag: 'Events',
    summary: 'Get an event',
    response: { description: 'The event.', schema: FormEvent },
  },
  getChanges: {
    method: 'GET',
    path: `${formPath}/changes`,
    service: 'forms',
    access: 'reader',
    cost: 'expensive',
    tag: 'Revisions',
    summary: 'Compare two states of a form',
    description:
      'The differences between two states of a form, by default between the live revision and the draft: what a publish would change. Steps are matched by `key`, options by `key`, `id`, `value` or text, and translations by locale and step key; other arrays are compared as a whole. For the draft, the response also says whether it can be published.',
    query: ChangesQuery,
    response: { description: 'The differences.', schema: FormChanges },
    reasons: ['REVISION_NOT_FOUND'],
  },
  getWhoami: {
    method: 'GET',
    path: '/whoami',
    service: 'organizations',
    access: 'reader',
    tag: 'Keys',
    summary: 'Get the caller',
    description:
      'The user of the key, the key, and all organizations that the user is a member of, with the roles.',
    response: { description: 'The caller.', schema: Whoami },
  },
  listKeys: {
    method: 'GET',
    path: '/keys',
    service: 'organizations',
    access: 'reader',
    tag: 'Keys',
    summary: 'List your keys',
    description:
      'A page of the keys of your user, newest first, without revoked and expired ones and without secrets. `lastUsedTime` is accurate to a minute.',
    query: PageQuery,
    response: page(ListKeysResponse),
  },
  createKey: {
    method: 'POST',
    path: '/keys',
    service: 'organizations',
    access: 'writer',
    tag: 'Keys',
    summary: 'Create a key',
    description:
      'Creates a key of your user. The response is the only one with its secret. A read-only key cannot create keys, and a key that expires cannot create one that works for longer. A user with 100 keys cannot create another one. A repeat with the same `requestId` creates no second key: it is a 409 with the path of the first one, whose secret cannot be shown again.',
    body: CreateKeyRequest,
    response: {
      description: 'The key and its secret. In a dry run the secret is empty.',
      schema: IssuedKey,
    },
    reasons: ['KEY_OUTLIVES_CALLER', 'TOO_MANY_KEYS', 'KEY_ALREADY_CREATED'],
  },
  rotateKey: {
    method: 'POST',
    path: '/keys/{keyId}/rotate',
    service: 'organizations',
    access: 'writer',
    tag: 'Keys',
    summary: 'Replace a key',
    description:
      'Creates a key with the name, rights and `expireTime` of one of your keys. The old key works for `overlapSeconds` more, at most until its own `expireTime`. Without `overlapSeconds`, the old key is revoked, everywhere within a second: if it is the key of the request and the response is lost, you have no key. A read-only key can rotate only itself, and only without an overlap. An empty body means `{}`. A repeat with the same `requestId` creates no second key: it is a 409 with the path of the first one, whose secret cannot be shown again.',
    body: RotateKeyRequest,
    response: {
      description: 'The new key and its secret. In a dry run the secret is empty.',
      schema: IssuedKey,
    },
    reasons: ['KEY_OUTLIVES_CALLER', 'TOO_MANY_KEYS', 'KEY_ALREADY_CREATED'],
  },
  deleteKey: {
    method: 'DELETE',
    path: '/keys/{keyId}',
    service: 'organizations',
    access: 'writer',
    tag: 'Keys',
    summary: 'Revoke a key',
    description:
      'Revokes one of your keys, everywhere within a second. A read-only key can revoke itself. An empty body means `{}`. Proxies may drop the body of a DELETE, so the query also accepts `validateOnly`; body and query must not disagree.',
    query: DeleteKeyQuery,
    body: DeleteKeyRequest,
    response: nothing,
  },
  createSession: {
    method: 'POST',
    path: '/sessions',
    service: 'organizations',
    access: 'anyone',
    tag: 'Keys',
    summary: 'Sign in with a login code',
    description:
      'Exchanges the one-time code of a login link, which `formctl user login-link` prints, for a key with the name `Console` that works for 12 hours. Needs no key. A code works only once, within 15 minutes. In a dry run it stays valid, and the response names its user: clients that open links should ask `Sign in as …?`, since a link may be that of somebody else. To sign out, delete the key.',
    body: CreateSessionRequest,
    response: {
      description: 'The key, its secret and its user. In a dry run the secret is empty.',
      schema: Session,
    },
    reasons: ['LOGIN_CODE_INVALID', 'TOO_MANY_KEYS', 'RATE_LIMITED', 'OVERLOADED', 'STORAGE_FULL'],
  },
  getOpenApi: {
    method: 'GET',
    path: '/openapi.json',
    service: 'gateway',
    access: 'anyone',
    tag: 'Reference',
    summary: 'Get this document',
    query: OpenApiQuery,
    response: { description: 'OpenAPI 3.1.', schema: z.looseObject({ openapi: z.string() }) },
  },
  getDocs: {
    method: 'GET',
    path: '/docs',
    service: 'gateway',
    access: 'anyone',
    tag: 'Reference',
    summary: 'Get the reference page',
    response: html,
  },
  getConsole: {
    method: 'GET',
    path: '/console',
    service: 'gateway',
    access: 'anyone',
    tag: 'Reference',
    summary: 'Get the console',
    response: html,
    reasons: ['CONSOLE_NOT_BUILT'],
  },
} satisfies Record<string, Operation>

export type OperationId = keyof typeof operations

export interface NamedOperation extends Operation {
  id: OperationId
}

export const allOperations: readonly NamedOperation[] = Object.entries<Operation>(operations).map(
  ([id, operation]) => ({ id: id as OperationId, ...operation }),
)

/** The path of an operation as a pattern of Fastify, such as `/keys/:keyId`. */
export const routePatternOf = ({ path }: Pick<Operation, 'path'>): string => path.replace(/\{(\w+)\}/g, ':$1')

const isWrite = ({ access }: Operation) => access === 'writer' || access === 'owner'
const isInOrganization = ({ path }: Operation) => path.startsWith(organizationPath)
const hasParameter =
  (name: string) =>
  ({ query, path }: Operation) =>
    path.includes(`{${name}}`) || (query !== undefined && name in query.shape)

/** The reasons that follow from the other members of an operation. */
const reasonRules: [(operation: Operation) => boolean, ReasonName[]][] = [
  [() => true, ['INVALID_REQUEST', 'MALFORMED_REQUEST', 'HEAD_TOO_LARGE', 'REQUEST_TIMEOUT', 'INTERNAL']],
  [
    ({ access }) => access !== 'anyone',
    [
      'API_KEY_INVALID',
      'RATE_LIMITED',
      'TOO_MANY_WRONG_KEYS',
      'TOO_MANY_AT_ONCE',
      'AUTHENTICATION_UNAVAILABLE',
      'OVERLOADED',
    ],
  ],
  [isInOrganization, ['ORGANIZATION_NOT_FOUND']],
  [isWrite, ['WRITE_FORBIDDEN', 'STORAGE_FULL']],
  [({ access }) => access === 'owner', ['OWNER_REQUIRED']],
  [({ path }) => path.startsWith(formPath), ['FORM_NOT_FOUND']],
  [({ path }) => path.startsWith(deletedFormPath), ['DELETED_FORM_NOT_FOUND']],
  [hasParameter('revisionRef'), ['REVISION_NOT_FOUND']],
  [hasParameter('eventId'), ['EVENT_NOT_FOUND']],
  [hasParameter('keyId'), ['KEY_NOT_FOUND']],
  [hasParameter('pageToken'), ['INVALID_PAGE_TOKEN']],
  [hasParameter('filter'), ['INVALID_FILTER', 'FILTER_TOO_COMPLEX']],
  [hasParameter('orderBy'), ['INVALID_ORDER_BY']],
  [({ body }) => body !== undefined, ['UNSUPPORTED_MEDIA_TYPE', 'BODY_TOO_LARGE', 'MALFORMED_JSON']],
  [(operation) => isWrite(operation) && isInOrganization(operation), ['REQUEST_ID_REUSED']],
  [({ header }) => header === 'if-match', ['INVALID_IF_MATCH', 'FORM_MOVED', 'UPDATE_ABORTED']],
  [
    ({ service }) => service === 'organizations' || service === 'forms',
    [
      'UPSTREAM_UNAVAILABLE',
      'STORE_UNAVAILABLE',
      'STORE_NOT_MIGRATED',
      'STORE_NOT_SUPPORTED',
      'STORE_SCHEMA_TOO_NEW',
    ],
  ],
]

export const reasonsOf = (operation: Operation): ReasonName[] => [
  ...reasonRules.flatMap(([applies, names]) => (applies(operation) ? names : [])),
  ...(operation.reasons ?? []),
]
