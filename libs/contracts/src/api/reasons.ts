import type { FieldViolation, PreconditionViolation, Status } from '../error.ts'

/** Values of a message by their names. Undefined stands for a value that most messages lack. */
type Metadata = Record<string, string | undefined>

/** A reason of errors (AIP-193): its facts, its texts, and an example of each value in an error. */
export interface Reason<M extends Metadata = Metadata> {
  status: Status
  /** The HTTP status code if it is not that of `status`. */
  http?: number
  /** Who can get the error instead of clients of the API. */
  seenBy?: 'operators' | 'formctl'
  /** What happened. Markdown. */
  meaning: string
  /** What to do. Markdown, with links relative to `docs`. */
  remedy: string
  /** Examples of the values in the message: `metadata` of the error. */
  metadata: M
  /** An example, if the error lists fields. */
  fieldViolations?: FieldViolation[]
  /** An example, if the error lists rules. */
  preconditionViolations?: PreconditionViolation[]
  /** If a repeat of the request may succeed: after how many seconds. Default: 1 if something is unavailable for a moment. */
  retryAfterSeconds?: number
  /** What is wrong, and what to do. @param violations the first, and how many more there are; `""` for none. */
  message(metadata: M, violations: string): string
}

const reason = <M extends Metadata = Record<never, string>>(
  reason: Omit<Reason<M>, 'metadata'> & { metadata?: M },
): Reason<M> => ({
  ...(passing.includes(reason.status) && { retryAfterSeconds: 1 }),
  ...reason,
  metadata: reason.metadata ?? ({} as M),
})

/** Statuses of what passes by itself. */
const passing: readonly Status[] = ['ABORTED', 'DEADLINE_EXCEEDED', 'UNAVAILABLE']

const sentence = (text: string): string => (text.endsWith('?') ? text : `${text}.`)

const organizationId = '8c2f4f0a-52be-4f0b-a6a4-1f1d6f2b7c11'
const organization = `organizations/${organizationId}`
const form = `${organization}/forms/Ab3dE6gH9j`
const formWithId = `${organization}/forms/0b7f7c1e-6a9c-4f0e-9d53-9c4b3f1c2a10`
const deletedForm = `${organization}/deletedForms/Ab3dE6gH9j`
const revision = `${form}/revisions/live`
const eventId = '0199f3a1-7c1e-7d53-9c4b-3f1c2a105a0e'
const event = `${organization}/events/${eventId}`
const keyId = '9d2e6a0f-3f0e-4bb6-8a54-0f6d3a1b9e33'
const key = `keys/${keyId}`
const userId = '4b1f0a52-0c1e-4f0b-8d53-7a6d2f1c3b22'
const email = 'ada@example.com'
const requestId = '3f0c9a52-8a0f-4f55-8c59-0a3b1d2e4f60'

/** All reasons. `apiError` of libs/aip, the OpenAPI document and the tables of `docs/errors.md` follow from them. */
export const reasons = {
  AFTER_LAST_EVENT: reason({
    status: 'OUT_OF_RANGE',
    meaning:
      'The log ends before this position, at `lastSequence`. If you have read later events, it was restored from a backup.',
    remedy: 'Start at `lastSequence` or before. After a restore, read all forms first.',
    metadata: { lastSequence: '0000000000000312' },
    message: ({ lastSequence }) =>
      `The last event is ${lastSequence}. Start after this one or an earlier one. If you have read later events, the log was restored from a backup: read all forms again.`,
  }),
  API_KEY_INVALID: reason<{ authorization?: string }>({
    status: 'UNAUTHENTICATED',
    meaning:
      'The key in `x-api-key` is missing, malformed, unknown, expired or revoked. `authorization` is `Bearer` if the request has such a token instead.',
    remedy: 'Check the header. Ask for a new key.',
    metadata: { authorization: undefined },
    message: ({ authorization }) =>
      `The request has no valid API key. Send one in the header x-api-key${authorization ? `, not in Authorization: ${authorization}` : ''}; formctl key create creates one. The API reference is at /v2/docs.`,
  }),
  AUTHENTICATION_UNAVAILABLE: reason({
    status: 'UNAVAILABLE',
    meaning: 'The key cannot be checked at the moment. Nothing was done.',
    remedy: 'Retry later.',
    message: () => 'API keys cannot be checked at the moment. Repeat the request a little later.',
  }),
  BODY_TOO_LARGE: reason({
    status: 'INVALID_ARGUMENT',
    http: 413,
    meaning: 'The body is larger than 1 MiB, or than 16 KiB where no form is sent.',
    remedy: 'Send less. A form has at most 768 KiB.',
    metadata: { bodyLimitBytes: '1048576' },
    message: ({ bodyLimitBytes }) => `The body is larger than ${bodyLimitBytes} bytes. Send a smaller one.`,
  }),
  BREAKING_CHANGES: reason({
    status: 'FAILED_PRECONDITION',
    meaning: 'A publish with `refuseBreaking` would orphan answers to the live revision.',
    remedy:
      'Restore what the [violations](#violations-of-refusebreaking) name, or publish without `refuseBreaking`.',
    metadata: { subject: 'form.steps[1]' },
    preconditionViolations: [
      {
        type: 'STEP_REMOVED',
        subject: 'form.steps[1]',
        description: 'of the live revision must remain: the question "email" may have answers',
      },
    ],
    message: (_, violations) =>
      `The publish would orphan answers that respondents have given: ${violations}. Restore the questions and options in violations, or publish without refuseBreaking.`,
  }),
  CONSOLE_NOT_BUILT: reason({
    status: 'NOT_FOUND',
    meaning: 'The files of the console are missing.',
    remedy: 'Operators: run `npm run build -w console`.',
    message: () =>
      'The console is not built here. Run npm run build -w console in the root folder of the repository, then reload the page.',
  }),
  DELETED_FORM_NOT_FOUND: reason({
    status: 'NOT_FOUND',
    meaning: 'The organization has no deleted form with this id that can be restored.',
    remedy: 'List the deleted forms.',
    metadata: { deletedForm },
    message: ({ deletedForm }) => `There is no ${deletedForm}. List the deleted forms that can be restored.`,
  }),
  DRAFT_NOT_PUBLISHABLE: reason({
    status: 'FAILED_PRECONDITION',
    meaning: 'The draft cannot be published.',
    remedy: 'Fix all [violations](#violations-of-publish), then publish again.',
    metadata: { subject: 'form.steps' },
    preconditionViolations: [
      {
        type: 'QUESTIONS',
        subject: 'form.steps',
        description: 'must hold at least one step that is neither start nor end',
      },
    ],
    message: (_, violations) =>
      `The draft cannot be published: ${violations}. Correct the fields in violations, then publish again.`,
  }),
  EVENTS_PRUNED: reason({
    status: 'OUT_OF_RANGE',
    meaning:
      'Retention has removed events after the requested position. `oldestSequence` and `lastSequence` are the ends of the log.',
    remedy: 'Read all forms, then continue with `lastSequence` as `afterSequence`.',
    metadata: { oldestSequence: '0000000000000312', lastSequence: '0000000000000907' },
    message: ({ oldestSequence, lastSequence }) =>
      `Events before ${oldestSequence} have been removed. Read all forms, then continue with afterSequence=${lastSequence}.`,
  }),
  EVENT_NOT_FOUND: reason({
    status: 'NOT_FOUND',
    meaning: 'The log of the organization has no event with this id, or retention has removed it.',
    remedy: 'List the events.',
    metadata: { event },
    message: ({ event }) => `There is no ${event}. List the events of the organization.`,
  }),
  FILTER_TOO_COMPLEX: reason({
    status: 'INVALID_ARGUMENT',
    meaning:
      '`filter` has more than 60 `conditions`, or 10 `text conditions`: with `:`, `search()`, a bare term, or a `*` before the end.',
    remedy: 'Use fewer. Compare with `=`, with at most one `*`, at the end.',
    metadata: { field: 'filter', conditions: 'text conditions', limit: '10', found: '11' },
    fieldViolations: [
      { field: 'filter', description: 'has 11 text conditions, where at most 10 are possible' },
    ],
    message: ({ conditions }, violations) =>
      conditions === 'conditions'
        ? `The ${violations}. Use fewer conditions.`
        : `The ${violations}. These are :, search(), a bare term, and a * before the end. Use fewer of them, or compare with = and at most one *, at the end.`,
  }),
  FILTER_TOO_EXPENSIVE: reason({
    status: 'INVALID_ARGUMENT',
    meaning: 'The list took longer than `SEARCH_TIMEOUT_MS`.',
    remedy:
      'Narrow the filter by a name that begins with literal text, a search for at least three letters, or a range of times. Order by one field, and use `pageToken` instead of a large `skip`.',
    metadata: { timeoutMs: '2000' },
    message: ({ timeoutMs }) =>
      `The list took longer than ${timeoutMs} ms. Narrow the filter with AND: a name that begins with literal text (name = "text*"), a search for three letters or more, or a range of createTime or updateTime. Order by one field, and use pageToken instead of a large skip.`,
  }),
  FORM_ID_TAKEN: reason({
    status: 'ALREADY_EXISTS',
    meaning:
      'Another form of the organization has this `formId`. `deleted` is `true` if it was deleted and can be restored.',
    remedy: 'Read that form, or restore or purge it; or use another `formId`.',
    metadata: { form: formWithId, deleted: 'false' },
    message: ({ form, deleted }) =>
      deleted === 'true'
        ? `${form} was deleted and can be restored, so its id is taken. Restore it, purge it, or use another formId.`
        : `${form} exists already. Read it, or use another formId.`,
  }),
  FORM_MOVED: reason({
    status: 'FAILED_PRECONDITION',
    http: 412,
    meaning:
      'The draft has changed since the ETag in `If-Match`. `etag` is the current one, including quotes.',
    remedy:
      'Read the form, apply the change again, send the new ETag; for a deleted form, the `etag` in `metadata`.',
    metadata: { form, etag: '"4-live.12"' },
    message: ({ etag }) => `The form is now at ETag ${etag}. Read it again and retry.`,
  }),
  FORM_NOT_FOUND: reason({
    status: 'NOT_FOUND',
    meaning:
      'The organization, or with `-` each of yours, has no such form, or it was deleted (before a repeat, perhaps after the first request).',
    remedy: 'List the forms, or the deleted forms.',
    metadata: { form },
    message: ({ form }) => `There is no ${form}. List the forms, or the deleted forms.`,
  }),
  FORM_NOT_LIVE: reason({
    status: 'FAILED_PRECONDITION',
    meaning: 'The form was never published, or is taken down already.',
    remedy: 'Nothing: respondents do not see the form.',
    metadata: { form },
    message: ({ form }) =>
      `No revision of ${form} is live, so there is nothing to take down. Publish the form to make one live.`,
  }),
  HEAD_TOO_LARGE: reason({
    status: 'INVALID_ARGUMENT',
    http: 431,
    meaning: 'The URL and the headers have more than 32 KiB.',
    remedy: 'Send less.',
    message: () => 'The URL and the headers are too large. Send a shorter URL, or fewer headers.',
  }),
  INTERNAL: reason({
    status: 'INTERNAL',
    meaning: 'A defect in the service.',
    remedy: 'Report it with the request id.',
    message: () => 'Something failed on our side. Report it with the request id of this response.',
  }),
  INVALID_FILTER: reason({
    status: 'INVALID_ARGUMENT',
    meaning: 'The syntax of `filter` is invalid, or the list does not support a field or operator.',
    remedy: 'Correct it at the column.',
    metadata: { field: 'filter', column: '7', expected: 'a value' },
    fieldViolations: [{ field: 'filter', description: 'column 7: expected a value' }],
    message: ({ column, expected }) =>
      sentence(`Correct the filter at column ${column}: expected ${expected}`),
  }),
  INVALID_IF_MATCH: reason({
    status: 'INVALID_ARGUMENT',
    meaning: '`If-Match` is neither `*` nor a list of tags in double quotes.',
    remedy: 'Send the ETag as it came, quotes included.',
    message: () =>
      'If-Match takes * or a comma-separated list of tags in double quotes, such as "3-live.12". Send the ETag header of an earlier response unchanged, with its quotes.',
  }),
  INVALID_ORDER_BY: reason({
    status: 'INVALID_ARGUMENT',
    meaning: 'The syntax of `orderBy` is invalid, or the list cannot be sorted by a field.',
    remedy: 'Correct it at the column.',
    metadata: { field: 'orderBy', column: '6', expected: 'asc or desc' },
    fieldViolations: [{ field: 'orderBy', description: 'column 6: expected asc or desc' }],
    message: ({ column, expected }) => `Correct the orderBy at column ${column}: expected ${expected}.`,
  }),
  INVALID_PAGE_TOKEN: reason({
    status: 'INVALID_ARGUMENT',
    meaning: '`pageToken` is corrupt, or belongs to another list, filter, order, start (of events) or user.',
    remedy: 'Start again without it.',
    message: () =>
      'The pageToken does not belong to this list. Start over from the first page, without pageToken, and keep filter, orderBy and afterSequence the same from page to page.',
  }),
  INVALID_REQUEST: reason({
    status: 'INVALID_ARGUMENT',
    meaning: 'Fields of the body or query parameters are invalid.',
    remedy: 'Correct all of them.',
    metadata: { field: 'form.nmae' },
    fieldViolations: [{ field: 'form.nmae', description: 'is not a known field' }],
    message: (_, violations) =>
      `${sentence(violations)} Correct the fields in fieldViolations, then repeat the request.`,
  }),
  KEY_ALREADY_CREATED: reason({
    status: 'ALREADY_EXISTS',
    meaning: 'An earlier create or rotation with this `requestId` has created `key`.',
    remedy: 'Without its secret, delete the key and create another one with a new `requestId`.',
    metadata: { requestId, key },
    message: ({ requestId, key }) =>
      `The requestId ${requestId} has created ${key} already, and its secret cannot be shown again. If you do not have the secret, delete that key and create another one with a new requestId.`,
  }),
  KEY_NOT_FOUND: reason({
    status: 'NOT_FOUND',
    meaning: 'You have no live API key with this id.',
    remedy: 'List your keys.',
    metadata: { key },
    message: ({ key }) => `You have no API key ${key}, or it is revoked or expired. List your keys.`,
  }),
  KEY_OUTLIVES_CALLER: reason({
    status: 'INVALID_ARGUMENT',
    meaning:
      'The new key would work for longer than the key of the request, until `expireTime`. Only a create has `BadRequest`.',
    remedy: 'Set an `expireTime` that is not later, or use a key that works for longer.',
    metadata: { expireTime: '2026-11-20T21:30:00.000Z' },
    fieldViolations: [{ field: 'key.expireTime', description: 'must not be after 2026-11-20T21:30:00.000Z' }],
    message: ({ expireTime }, violations) =>
      `The key of this request expires at ${expireTime}, and the new key would work for longer. ${violations ? 'Set an expireTime that is not later, or use' : 'Use'} a key that works for longer.`,
  }),
  LOGIN_CODE_INVALID: reason({
    status: 'UNAUTHENTICATED',
    meaning: 'The login code is wrong, used or expired, or its user is disabled.',
    remedy: 'Ask an operator for another link (`formctl user login-link`).',
    message: () =>
      'The login code is wrong, used or expired. Ask an operator for another link (formctl user login-link).',
  }),
  MALFORMED_JSON: reason<{ line?: string; column?: string; expected?: string; field?: string }>({
    status: 'INVALID_ARGUMENT',
    meaning:
      'The body is not JSON in UTF-8. `line`, `column` and `expected` describe a syntax error; `field` names half a surrogate pair, a number out of the range of a double, or more than 64 levels of nesting.',
    remedy: 'Correct the body.',
    metadata: { line: '1', column: '10', expected: 'a value', field: undefined },
    message: ({ line, column, expected }) =>
      `The body is not JSON: line ${line}, column ${column}: expected ${expected}. Send the body as JSON in UTF-8 (RFC 8259).`,
  }),
  MALFORMED_REQUEST: reason({
    status: 'INVALID_ARGUMENT',
    meaning: 'The HTTP request is malformed, for example shorter than its `content-length`.',
    remedy: 'Check the HTTP client and proxies.',
    message: () => 'The request is malformed HTTP. Check its headers and its length.',
  }),
  METHOD_NOT_ALLOWED: reason<{ method: string; allowed: string; meant?: string }>({
    status: 'INVALID_ARGUMENT',
    http: 405,
    meaning: 'The path does not support this method. `meant` is a similar path that does, if there is one.',
    remedy: 'Use a method of the header `Allow`.',
    metadata: { method: 'POST', allowed: 'GET, HEAD', meant: '/v2/organizations/demo/forms/check' },
    message: ({ method, allowed, meant }) =>
      `${method} is not supported here. Use ${allowed.replaceAll(', ', ' or ')}.${meant ? ` Did you mean ${meant}?` : ''}`,
  }),
  ORGANIZATION_NOT_FOUND: reason({
    status: 'NOT_FOUND',
    meaning: 'The organization does not exist, or you are not a member of it.',
    remedy: 'List your organizations.',
    metadata: { organization: 'demo' },
    message: ({ organization }) =>
      `There is no organization ${organization}, or you are not a member of it. List your organizations.`,
  }),
  OVERLOADED: reason({
    status: 'UNAVAILABLE',
    meaning: 'The turn of the request did not come in time. Nothing was done.',
    remedy: 'Retry later, with growing delay.',
    message: () => 'Too many requests wait. Nothing was done; repeat the request a little later.',
  }),
  OWNER_REQUIRED: reason({
    status: 'PERMISSION_DENIED',
    meaning: 'Only owners of the organization may purge a deleted form. `role` is yours.',
    remedy: 'Ask an owner.',
    metadata: { role: 'editor' },
    message: ({ role }) =>
      `Only an owner of the organization may do this, and your role is ${role}. Ask an owner to do it.`,
  }),
  PATH_NOT_FOUND: reason<{ path: string; meant?: string }>({
    status: 'NOT_FOUND',
    meaning: 'The path does not exist. `meant` is a similar path, if there is one.',
    remedy: 'Compare it with the [API reference](api.md).',
    metadata: { path: '/v2/organisations', meant: '/v2/organizations' },
    message: ({ path, meant }) =>
      `There is nothing at ${path}.${meant ? ` Did you mean ${meant}?` : ''} The API reference is at /v2/docs; formctl key create makes an API key.`,
  }),
  PUBLIC_FORM_NOT_FOUND: reason({
    status: 'NOT_FOUND',
    meaning:
      'Respondents see no form with this public id: it was never published, was taken down or deleted, or never existed.',
    remedy: 'Check the link. Makers: publish the form.',
    metadata: { publicId: 'Ab3dE6gH9j' },
    message: ({ publicId }) =>
      `There is no public form ${publicId}. Check the link; if it is right, the form is not open now. Its makers open it by publishing it.`,
  }),
  PUBLISHING_UNAVAILABLE: reason({
    status: 'UNAVAILABLE',
    meaning:
      'NATS is disconnected, its queue or disk is full, or the gateway stops. The publish happens within the timeout of the request or never. `requestId`: yours or generated.',
    remedy: 'Retry later with this `requestId`.',
    metadata: { requestId },
    message: ({ requestId }) =>
      `Forms cannot be published at the moment. Repeat the request a little later, with requestId ${requestId}.`,
  }),
  PUBLISH_TIMEOUT: reason({
    status: 'DEADLINE_EXCEEDED',
    meaning: 'The publish was not confirmed in time. It has already happened or never will.',
    remedy:
      'Retry with this `requestId`: it cannot publish twice. Operators: [find the cause](first-ten-minutes.md#publishes-time-out).',
    metadata: { requestId },
    message: ({ requestId }) =>
      `Publishing was not confirmed in time: it has happened by now, or never will. It is safe to repeat it with requestId ${requestId}.`,
  }),
  QUOTA_EXCEEDED: reason({
    status: 'RESOURCE_EXHAUSTED',
    meaning:
      'The organization has reached its quota: `quota` is `forms`, or `bytes` of drafts, revisions and events. Reads, deletes, unpublishes, and patches that shrink a form still work. A deleted form counts towards `bytes` until it is purged, its events until retention removes them.',
    remedy: 'Delete forms, and for `bytes` purge them, too; or ask the operator for a higher quota.',
    metadata: { organization, quota: 'forms', limit: '100000', used: '100000' },
    message: ({ organization, quota, limit, used }) =>
      `${organization} has ${used} of ${limit} ${quota} and no room for this. Delete forms that are no longer needed${quota === 'bytes' ? ' and have an owner purge them' : ''}, or have an operator raise MAX_${quota.toUpperCase()}_PER_ORGANIZATION.`,
  }),
  RATE_LIMITED: reason({
    status: 'RESOURCE_EXHAUSTED',
    meaning: 'The key, or without one the address, has reached its limit of requests per minute.',
    remedy: 'Wait as long as `Retry-After` says.',
    metadata: { limit: '6000', retryAfterSeconds: '12' },
    retryAfterSeconds: 12,
    message: ({ limit, retryAfterSeconds }) =>
      `This key or address may send ${limit} requests a minute. Wait ${retryAfterSeconds} s, then continue.`,
  }),
  REQUEST_ID_REUSED: reason({
    status: 'ALREADY_EXISTS',
    meaning:
      'The `requestId` belongs to an earlier request of the organization for the same operation (`method`), but for another form or with another body; of a publish, only form and note count.',
    remedy: 'Use a new one for each new request.',
    metadata: { organization, requestId, method: 'create' },
    message: ({ requestId, method }) =>
      `The requestId ${requestId} belongs to another ${method} request. Send a new requestId with each new request, and the same one only with repeats.`,
  }),
  REQUEST_TIMEOUT: reason({
    status: 'INVALID_ARGUMENT',
    http: 408,
    meaning: 'The head has not arrived within 10 s, or the body within a minute.',
    remedy: 'Send it without pauses.',
    message: () => 'The request has not arrived in time. Repeat it, and send it without pauses.',
  }),
  REVISION_NOT_FOUND: reason({
    status: 'NOT_FOUND',
    meaning:
      'The form has no such revision. `live` and `latest` exist after the first publish; an unpublish removes `live`.',
    remedy: 'Publish the form, or list its revisions.',
    metadata: { revision },
    message: ({ revision }) => `There is no ${revision}. Publish the form, or list its revisions.`,
  }),
  REVISION_NOT_RESTORABLE: reason({
    status: 'FAILED_PRECONDITION',
    meaning:
      'An earlier release stored the revision, and the current rules reject it. The type of all violations is `FIELD_INVALID`.',
    remedy: 'Read the revision, correct the fields in `violations`, and update the form with the result.',
    metadata: { subject: 'form.steps[1].key' },
    preconditionViolations: [
      { type: 'FIELD_INVALID', subject: 'form.steps[1].key', description: 'repeats the key of steps[0]' },
    ],
    message: (_, violations) =>
      `The draft cannot be rolled back to this revision, because the current rules reject it: ${violations}. Read the revision, correct the fields in violations, and update the form with the result.`,
  }),
  STORE_NOT_MIGRATED: reason({
    status: 'UNAVAILABLE',
    meaning: 'A MongoDB store does not have the indexes of this release.',
    remedy: 'Operators: run `formctl migrate` once.',
    metadata: { store: 'forms' },
    message: ({ store }) =>
      `The ${store} store is not prepared for this release. Run formctl migrate once, then repeat the request.`,
  }),
  STORE_NOT_SUPPORTED: reason({
    status: 'UNAVAILABLE',
    meaning: 'A store runs on a standalone MongoDB, or on one before 8.0.',
    remedy:
      'Operators: run `formctl doctor`, which prints the commands to [set it up](operations.md#which-mongodb).',
    message: () =>
      'The server of the store lacks what this release needs. An operator has to set it up as formctl doctor says.',
  }),
  STORE_SCHEMA_TOO_NEW: reason({
    status: 'UNAVAILABLE',
    meaning: 'A newer release has migrated a store, and this service is too old to use it.',
    remedy:
      'Operators: upgrade this service, or restore the backup from before the [upgrade](operations.md#upgrade).',
    metadata: { store: 'forms', knownVersion: '5', version: '6', oldestVersion: '6' },
    message: ({ store, knownVersion, version, oldestVersion }) =>
      `The ${store} store has version ${version} of its schema, for releases with version ${oldestVersion} or later. This release has version ${knownVersion}. Upgrade this service, or restore the backup from before the upgrade.`,
  }),
  STORAGE_FULL: reason({
    status: 'UNAVAILABLE',
    meaning:
      'The disk of a store is full. Nothing was changed. Reads, deletes, unpublishes, purges, and patches that shrink a form still work.',
    remedy:
      'Purge deleted forms, or wait until the operator has freed some room. Operators: [a full disk](operations.md#the-disk-is-full).',
    // Longer than clients wait by themselves: people free room.
    retryAfterSeconds: 120,
    message: () =>
      'The disk is full. Nothing was changed. Deletes, unpublishes and purges still work. Repeat the request once the operator has freed some room.',
  }),
  STORE_UNAVAILABLE: reason({
    status: 'UNAVAILABLE',
    meaning: 'The store is locked, not reachable, or rejects the service.',
    remedy: 'Retry later. Operators: [what to check](first-ten-minutes.md#a-store-is-unavailable).',
    message: () => 'The store cannot be reached just now. Repeat the request in a moment.',
  }),
  TOO_MANY_AT_ONCE: reason({
    status: 'RESOURCE_EXHAUSTED',
    meaning:
      'Too many requests of the user or the organization (`scope`) wait or are under way. One is under way until you have read its response.',
    remedy: 'Wait for responses before you send more requests; read smaller pages.',
    metadata: { scope: 'user', limit: '64' },
    retryAfterSeconds: 1,
    message: ({ scope, limit }) =>
      `This ${scope} may have ${limit} requests waiting or under way. Wait for some to end; a response ends with its last byte.`,
  }),
  TOO_MANY_KEYS: reason({
    status: 'FAILED_PRECONDITION',
    meaning: 'You have as many live API keys as a user may create.',
    remedy: 'Delete keys that are no longer needed.',
    metadata: { limit: '100' },
    message: ({ limit }) =>
      `You have ${limit} API keys, the most that a user may create. Delete keys that are no longer needed, then repeat the request.`,
  }),
  TOO_MANY_STREAMS: reason({
    status: 'RESOURCE_EXHAUSTED',
    meaning: 'The key has 5 event streams open, or the organization 100 (`scope`).',
    remedy: 'Close streams, share one among readers, or read the list of events.',
    metadata: { scope: 'key', limit: '5' },
    retryAfterSeconds: 5,
    message: ({ scope, limit }) =>
      `This ${scope} may have ${limit} event streams open at once. Close some, share one stream among readers, or read the list of events.`,
  }),
  TOO_MANY_WRONG_KEYS: reason({
    status: 'RESOURCE_EXHAUSTED',
    meaning: 'Too many look-ups of unknown keys are in progress. Your key may be valid.',
    remedy: 'Retry later.',
    metadata: { limit: '64', retryAfterSeconds: '1' },
    retryAfterSeconds: 1,
    message: ({ limit, retryAfterSeconds }) =>
      `${limit} unknown keys are being looked up, and too many others wait. Wait ${retryAfterSeconds} s, then repeat the request.`,
  }),
  UNSUPPORTED_MEDIA_TYPE: reason({
    status: 'INVALID_ARGUMENT',
    http: 415,
    meaning: 'The `content-type` is not `application/json`, or the body is compressed.',
    remedy: 'Send `content-type: application/json`, and no `content-encoding`.',
    metadata: { contentType: 'text/plain', coding: '' },
    message: ({ contentType, coding }) =>
      coding
        ? `The coding ${coding} is not supported. Send the body uncompressed.`
        : `A body of type ${contentType || '(none)'} is not supported. Send JSON with the header content-type: application/json.`,
  }),
  UPDATE_ABORTED: reason({
    status: 'ABORTED',
    meaning: 'Other writes changed the form during every attempt.',
    remedy: 'Retry.',
    metadata: { form },
    message: ({ form }) => `Other requests kept changing ${form}. Repeat the request.`,
  }),
  UPSTREAM_UNAVAILABLE: reason({
    status: 'UNAVAILABLE',
    meaning: 'A service behind the gateway does not respond.',
    remedy: 'Retry later.',
    metadata: { service: 'forms' },
    message: ({ service }) =>
      `The service ${service} does not respond at the moment. Repeat the request a little later.`,
  }),
  WRITE_FORBIDDEN: reason({
    status: 'PERMISSION_DENIED',
    meaning: 'You may only read: `because` is `role` if you are a viewer, and `key` if the key is read-only.',
    remedy: 'Ask an owner for the role editor, or use another key.',
    metadata: { because: 'role' },
    message: ({ because }) =>
      because === 'key'
        ? 'This key is read-only. Use a key that may write.'
        : 'Your role, viewer, may only read. Ask an owner of the organization for the role editor.',
  }),
  EVENT_CONFLICT: reason({
    status: 'ALREADY_EXISTS',
    seenBy: 'operators',
    meaning:
      'An import found another event at the position of this one, or a log that does not end right before it.',
    remedy:
      'Import events in the order of their sequence, into a store that has no others of the organization.',
    metadata: { source: `/v2/${organization}`, event: eventId, sequence: '0000000000000312' },
    message: ({ source, event, sequence }) =>
      `The event ${event} was not imported: the log of ${source} has another event at ${sequence}, or does not end right before it. Import the events of an organization in the order of their sequence, into a store that has no other events of it.`,
  }),
  FORM_CONFLICT: reason({
    status: 'ALREADY_EXISTS',
    seenBy: 'operators',
    meaning:
      'An import found a different form with this id, or one of its ids in another form. `field` names the id.',
    remedy: '[Moving data](moving.md) lists possible causes.',
    metadata: { form: formWithId, field: 'publicId', value: 'Ab3dE6gH9j' },
    message: ({ form, field, value }) =>
      `${form} was not imported: the store has different content with its ${field}, ${value}. Import into a store without this ${field}, or delete and purge the form that has it.`,
  }),
  IDENTITY_REQUIRED: reason({
    status: 'UNAUTHENTICATED',
    seenBy: 'operators',
    meaning: 'A request reached a service without passing the gateway.',
    remedy: 'Send the request to the gateway.',
    message: () => 'This service accepts only requests from the gateway. Send the request to the gateway.',
  }),
  NOT_READY: reason({
    status: 'UNAVAILABLE',
    seenBy: 'operators',
    meaning: 'Response of `/readyz` while something that the service needs is unavailable.',
    remedy: "Wait; the service's log names the cause.",
    message: () => 'The service is not ready. Wait, and look at its log if it stays so.',
  }),
  API_KEY_ENDED: reason({
    status: 'FAILED_PRECONDITION',
    seenBy: 'formctl',
    meaning: 'The key is revoked or expired. It cannot be rotated or changed.',
    remedy: 'Create a new key.',
    metadata: { keyId },
    message: ({ keyId }) => `The API key ${keyId} is revoked or expired already. Create a new key instead.`,
  }),
  API_KEY_EXISTS: reason({
    status: 'ALREADY_EXISTS',
    seenBy: 'formctl',
    meaning: 'The same key already exists. `keyId` is its id.',
    remedy: 'Use it, or provide another one.',
    metadata: { keyId },
    message: ({ keyId }) =>
      `This API key exists already, with the id ${keyId}. Use it as it is, or give another key.`,
  }),
  API_KEY_NOT_FOUND: reason({
    status: 'NOT_FOUND',
    seenBy: 'formctl',
    meaning: 'No key has this id.',
    remedy: '`formctl key list` shows the ids.',
    metadata: { keyId },
    message: ({ keyId }) => `There is no API key with the id ${keyId}. List the keys for their ids.`,
  }),
  EMAIL_TAKEN: reason({
    status: 'ALREADY_EXISTS',
    seenBy: 'formctl',
    meaning: 'A user already has this e-mail address (case-insensitive).',
    remedy: 'Use that user, or another address.',
    metadata: { email },
    message: ({ email }) =>
      `A user with the e-mail address ${email} exists already. Use that user, or give another address.`,
  }),
  MEMBER_EXISTS: reason({
    status: 'ALREADY_EXISTS',
    seenBy: 'formctl',
    meaning: 'The user is already a member.',
    remedy: '`formctl member set` changes the role.',
    metadata: { organizationId, userId },
    message: ({ organizationId, userId }) =>
      `User ${userId} is a member of organization ${organizationId} already. Set the member's role instead.`,
  }),
  MEMBER_NOT_FOUND: reason({
    status: 'NOT_FOUND',
    seenBy: 'formctl',
    meaning: 'The user is not a member.',
    remedy: '`formctl member add` adds one.',
    metadata: { organizationId, userId },
    message: ({ organizationId, userId }) =>
      `User ${userId} is not a member of organization ${organizationId}. Add the member first.`,
  }),
  RECORD_CONFLICT: reason({
    status: 'ALREADY_EXISTS',
    seenBy: 'formctl',
    meaning:
      'A copy found a different user, organization, member or key with this id, or one of its unique values in another record.',
    remedy: '[Moving data](moving.md) lists possible causes.',
    metadata: { record: 'organization Demo', clash: 'the same slug' },
    message: ({ record, clash }) =>
      `The directory has a different record with ${clash} as ${record}, which was not imported. Import into a directory without that record.`,
  }),
  SLUG_TAKEN: reason({
    status: 'ALREADY_EXISTS',
    seenBy: 'formctl',
    meaning: 'An organization already has this slug.',
    remedy: 'Use that organization, or another slug.',
    metadata: { slug: 'demo' },
    message: ({ slug }) =>
      `An organization with the slug ${slug} exists already. Use that organization, or give another slug.`,
  }),
  USER_DISABLED: reason({
    status: 'FAILED_PRECONDITION',
    seenBy: 'formctl',
    meaning: 'The user is disabled, so a login link would not work.',
    remedy: 'Enable the user first.',
    metadata: { user: email },
    message: ({ user }) => `The user ${user} is disabled and cannot sign in. Enable the user first.`,
  }),
  USER_NOT_FOUND: reason({
    status: 'NOT_FOUND',
    seenBy: 'formctl',
    meaning: 'No user has this id or e-mail address.',
    remedy: 'Check it, or create the user.',
    metadata: { user: email },
    message: ({ user }) =>
      `There is no user ${user}. Give the id or the e-mail address of one that exists, or create the user first.`,
  }),
}

export type ReasonName = keyof typeof reasons

/** The values that the message of a reason has. */
export type ReasonMetadata<R extends ReasonName> = (typeof reasons)[R]['metadata']

/** The reasons that clients of the API can get, in alphabetical order. */
export const apiReasons = (Object.keys(reasons) as ReasonName[])
  .filter((name) => !reasons[name].seenBy)
  .sort()
