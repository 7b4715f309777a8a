import {
  ApiError,
  FilterComplexityError,
  filterTooComplex,
  invalidPageToken,
  invalidRequest,
  maxTextConditions,
} from '@fms/aip'
import {
  apiKeyInvalid,
  bodyTooLarge,
  formBodyBytes,
  internal,
  malformedRequest,
  organizationNotFound,
  overloaded,
  ownerRequired,
  unsupportedMediaType,
  writeForbidden,
} from '@fms/service-kit'
import {
  authenticationUnavailable,
  consoleNotBuilt,
  publishingUnavailable,
  publishTimedOut,
  rateLimited,
  tooManyAtOnce,
  tooManyStreams,
  tooManyWrongKeys,
  upstreamUnavailable,
} from '../errors.ts'

/** A reason of an error: what it means, and an example. */
export interface Reason {
  meaning: string
  example: ApiError
}

const organization = 'organizations/8c2f4f0a-52be-4f0b-a6a4-1f1d6f2b7c11'
const form = `${organization}/forms/Ab3dE6gH9j`
const formWithId = `${organization}/forms/0b7f7c1e-6a9c-4f0e-9d53-9c4b3f1c2a10`
const deletedForm = `${organization}/deletedForms/Ab3dE6gH9j`
const revision = `${form}/revisions/live`
const event = `${organization}/events/0199f3a1-7c1e-7d53-9c4b-3f1c2a105a0e`
const key = 'keys/9d2e6a0f-3f0e-4bb6-8a54-0f6d3a1b9e33'
const requestId = '3f0c9a52-8a0f-4f55-8c59-0a3b1d2e4f60'
const retryAfterSeconds = 1

/** The reasons of all operations. `docs/errors.md` has them too, with what to do about each. */
export const reasons = {
  API_KEY_INVALID: {
    meaning: 'There is no key in `x-api-key`, or it is malformed, unknown, expired or revoked.',
    example: apiKeyInvalid(),
  },
  AUTHENTICATION_UNAVAILABLE: {
    meaning: 'The key cannot be checked at the moment; it may be valid. Nothing was done.',
    example: authenticationUnavailable(undefined),
  },
  BODY_TOO_LARGE: {
    meaning: 'The body is longer than 1 MiB, or than 16 KiB where no form is sent.',
    example: bodyTooLarge(formBodyBytes),
  },
  BREAKING_CHANGES: {
    meaning:
      'The request has `refuseBreaking`, and the draft would orphan answers to the live revision. Nothing was published. `violations` lists the changes.',
    example: new ApiError(
      'FAILED_PRECONDITION',
      'BREAKING_CHANGES',
      'The publish would orphan answers that respondents have given: form.steps[1] of the live revision must remain: the question "email" may have answers. Restore the questions and options in violations, or publish without refuseBreaking.',
      {
        metadata: { subject: 'form.steps[1]' },
        preconditionViolations: [
          {
            type: 'STEP_REMOVED',
            subject: 'form.steps[1]',
            description: 'of the live revision must remain: the question "email" may have answers',
          },
        ],
      },
    ),
  },
  CONSOLE_NOT_BUILT: {
    meaning: 'The files of the console are missing.',
    example: consoleNotBuilt(),
  },
  DELETED_FORM_NOT_FOUND: {
    meaning:
      'The organization has no deleted form with this id: it was never deleted, was restored, or was purged.',
    example: new ApiError(
      'NOT_FOUND',
      'DELETED_FORM_NOT_FOUND',
      `There is no ${deletedForm}. List the deleted forms that can be restored.`,
      { metadata: { deletedForm } },
    ),
  },
  DRAFT_NOT_PUBLISHABLE: {
    meaning: 'The draft is not ready, and nothing was published. `violations` lists what to correct.',
    example: new ApiError(
      'FAILED_PRECONDITION',
      'DRAFT_NOT_PUBLISHABLE',
      'The draft cannot be published: form.steps must hold at least one step that is neither start nor end. Correct the fields in violations, then publish again.',
      {
        metadata: { subject: 'form.steps' },
        preconditionViolations: [
          {
            type: 'QUESTIONS',
            subject: 'form.steps',
            description: 'must hold at least one step that is neither start nor end',
          },
        ],
      },
    ),
  },
  FILTER_TOO_EXPENSIVE: {
    meaning: 'The list took longer than its time limit. Narrow the filter.',
    example: new ApiError(
      'INVALID_ARGUMENT',
      'FILTER_TOO_EXPENSIVE',
      'The list took longer than 2000 ms. Narrow the filter with AND: a name that begins with literal text (name = "text*"), a search for three letters or more, or a range of createTime or updateTime. Order by one field, and use pageToken instead of a large skip.',
      { metadata: { timeoutMs: '2000' } },
    ),
  },
  FORM_ID_TAKEN: {
    meaning:
      'The organization has a form with this id. `deleted` is `true` if it was deleted and is not purged yet.',
    example: new ApiError(
      'ALREADY_EXISTS',
      'FORM_ID_TAKEN',
      `${formWithId} exists already. Read it, or use another formId.`,
      { metadata: { form: formWithId, deleted: 'false' } },
    ),
  },
  FORM_MOVED: {
    meaning: 'The ETag of the draft does not match `If-Match`. Nothing was changed.',
    example: new ApiError(
      'FAILED_PRECONDITION',
      'FORM_MOVED',
      'The form is now at ETag "4-live.12". Read it again and retry.',
      { http: 412, metadata: { form, etag: '"4-live.12"' } },
    ),
  },
  FORM_NOT_FOUND: {
    meaning: 'The organization has no such form, or it was deleted.',
    example: new ApiError(
      'NOT_FOUND',
      'FORM_NOT_FOUND',
      `There is no ${form}. List the forms, or the deleted forms.`,
      { metadata: { form } },
    ),
  },
  EVENT_NOT_FOUND: {
    meaning: 'There is no such event in the log of the organization.',
    example: new ApiError(
      'NOT_FOUND',
      'EVENT_NOT_FOUND',
      `There is no ${event}. List the events of the organization.`,
      { metadata: { event } },
    ),
  },
  AFTER_LAST_EVENT: {
    meaning:
      'The stream cannot start at this position, because the log ends before it. `lastSequence` is the position of the last event.',
    example: new ApiError(
      'OUT_OF_RANGE',
      'AFTER_LAST_EVENT',
      'The last event is 0000000000000312. Start after this one or an earlier one. If you have read later events, the log was restored from a backup: read all forms again.',
      { metadata: { lastSequence: '0000000000000312' } },
    ),
  },
  EVENTS_PRUNED: {
    meaning:
      'Events after the requested position have been removed. `oldestSequence` and `lastSequence` are the ends of the log. Read all forms, then continue after `lastSequence`.',
    example: new ApiError(
      'OUT_OF_RANGE',
      'EVENTS_PRUNED',
      'Events before 0000000000000312 have been removed. Read all forms, then continue with afterSequence=0000000000000907.',
      { metadata: { oldestSequence: '0000000000000312', lastSequence: '0000000000000907' } },
    ),
  },
  FILTER_TOO_COMPLEX: {
    meaning:
      '`filter` has more than 60 conditions, or more than 10 that need the text itself (`:`, `search()`, a bare term, a `*` before the end).',
    example: filterTooComplex(new FilterComplexityError('text conditions', maxTextConditions, 11)),
  },
  FORM_NOT_LIVE: {
    meaning: 'No revision of the form is live, so there is nothing to take down.',
    example: new ApiError(
      'FAILED_PRECONDITION',
      'FORM_NOT_LIVE',
      `No revision of ${form} is live, so there is nothing to take down. Publish the form to make one live.`,
      { metadata: { form } },
    ),
  },
  INTERNAL: { meaning: 'A defect of the service.', example: internal(undefined) },
  INVALID_FILTER: {
    meaning: '`filter` is not valid, or uses a field or function that the list does not have.',
    example: new ApiError(
      'INVALID_ARGUMENT',
      'INVALID_FILTER',
      'Correct the filter at column 7: expected a value.',
      {
        metadata: { field: 'filter', column: '7', expected: 'a value' },
        fieldViolations: [{ field: 'filter', description: 'column 7: expected a value' }],
      },
    ),
  },
  INVALID_IF_MATCH: {
    meaning: '`If-Match` is neither `*` nor a list of tags in double quotes.',
    example: new ApiError(
      'INVALID_ARGUMENT',
      'INVALID_IF_MATCH',
      'If-Match takes * or a comma-separated list of tags in double quotes, such as "3-live.12". Send the ETag header of an earlier response unchanged, with its quotes.',
    ),
  },
  INVALID_ORDER_BY: {
    meaning: '`orderBy` is not valid, or names a field that the list cannot be sorted by.',
    example: new ApiError(
      'INVALID_ARGUMENT',
      'INVALID_ORDER_BY',
      'Correct the orderBy at column 6: expected asc or desc.',
      {
        metadata: { field: 'orderBy', column: '6', expected: 'asc or desc' },
        fieldViolations: [{ field: 'orderBy', description: 'column 6: expected asc or desc' }],
      },
    ),
  },
  INVALID_PAGE_TOKEN: {
    meaning: '`pageToken` is damaged, or comes from another list, filter, order or user.',
    example: invalidPageToken(),
  },
  INVALID_REQUEST: {
    meaning: 'The body or the query is not valid. `fieldViolations` lists what to correct.',
    example: invalidRequest([{ field: 'form.nmae', description: 'is not a known field' }]),
  },
  KEY_ALREADY_CREATED: {
    meaning: 'The `requestId` has created a key already. Its secret cannot be shown again.',
    example: new ApiError(
      'ALREADY_EXISTS',
      'KEY_ALREADY_CREATED',
      `The requestId ${requestId} has created ${key} already, and its secret cannot be shown again. If you do not have the secret, delete that key and create another one with a new requestId.`,
      { metadata: { requestId, key } },
    ),
  },
  KEY_NOT_FOUND: {
    meaning: 'You have no such key, or it is revoked or expired.',
    example: new ApiError(
      'NOT_FOUND',
      'KEY_NOT_FOUND',
      `You have no API key ${key}, or it is revoked or expired. List your keys.`,
      { metadata: { key } },
    ),
  },
  KEY_OUTLIVES_CALLER: {
    meaning: 'The new key would work for longer than the key of the request.',
    example: new ApiError(
      'INVALID_ARGUMENT',
      'KEY_OUTLIVES_CALLER',
      'The key of this request expires at 2026-11-20T21:30:00.000Z, and the new key would work for longer. Set an expireTime that is not later, or use a key that works for longer.',
      {
        metadata: { expireTime: '2026-11-20T21:30:00.000Z' },
        fieldViolations: [
          { field: 'key.expireTime', description: 'must not be after 2026-11-20T21:30:00.000Z' },
        ],
      },
    ),
  },
  LOGIN_CODE_INVALID: {
    meaning: 'The login code is wrong, used or expired.',
    example: new ApiError(
      'UNAUTHENTICATED',
      'LOGIN_CODE_INVALID',
      'The login code is wrong, used or expired. Ask an operator for another link (formctl user login-link).',
      { headers: { 'www-authenticate': 'ApiKey realm="forms"' } },
    ),
  },
  MALFORMED_JSON: {
    meaning: 'The body is not JSON in UTF-8, or is nested too deeply.',
    example: new ApiError(
      'INVALID_ARGUMENT',
      'MALFORMED_JSON',
      'The body is not JSON: line 1, column 10: expected a value. Send the body as JSON in UTF-8 (RFC 8259).',
      { metadata: { line: '1', column: '10', expected: 'a value' } },
    ),
  },
  MALFORMED_REQUEST: {
    meaning: 'The request is not valid HTTP, for instance shorter than its content-length.',
    example: malformedRequest(undefined),
  },
  ORGANIZATION_NOT_FOUND: {
    meaning: 'There is no such organization, or you are not a member of it. The response does not say which.',
    example: organizationNotFound('demo'),
  },
  OVERLOADED: {
    meaning: 'The turn of the request did not come in time. Nothing was done.',
    example: overloaded(),
  },
  OWNER_REQUIRED: {
    meaning: 'Only owners of the organization may do this. `role` is yours.',
    example: ownerRequired('editor'),
  },
  PUBLISHING_UNAVAILABLE: {
    meaning:
      'The publish was rejected, or its acceptance was not confirmed. Repeat it with the `requestId` in `metadata`.',
    example: publishingUnavailable(requestId, undefined),
  },
  PUBLISH_TIMEOUT: {
    meaning: 'The publish was accepted, but not confirmed in time. It has happened by now, or never will.',
    example: publishTimedOut(requestId),
  },
  QUOTA_EXCEEDED: {
    meaning:
      'The organization has reached its limit of forms or of bytes. Deleted forms count towards the bytes until they are purged.',
    example: new ApiError(
      'RESOURCE_EXHAUSTED',
      'QUOTA_EXCEEDED',
      `${organization} has 100000 of 100000 forms and no room for this. Delete forms that are no longer needed, or have an operator raise MAX_FORMS_PER_ORGANIZATION.`,
      { metadata: { organization, quota: 'forms', limit: '100000', used: '100000' } },
    ),
  },
  RATE_LIMITED: {
    meaning: 'The key has reached its limit of requests per minute.',
    example: rateLimited(6000, 12),
  },
  REQUEST_ID_REUSED: {
    meaning:
      'The `requestId` belongs to an earlier request of the organization for the same operation (`method`, such as `create` or `publish`), but for another form or with another body; for a publish, only another form counts. Nothing was changed.',
    example: new ApiError(
      'ALREADY_EXISTS',
      'REQUEST_ID_REUSED',
      `The requestId ${requestId} belongs to another create request. Send a new requestId with each new request, and the same one only with repeats.`,
      { metadata: { organization, requestId, method: 'create' } },
    ),
  },
  REVISION_NOT_FOUND: {
    meaning: 'The form has no such revision. Before the first publish it has neither `live` nor `latest`.',
    example: new ApiError(
      'NOT_FOUND',
      'REVISION_NOT_FOUND',
      `There is no ${revision}. Publish the form, or list its revisions.`,
      { metadata: { revision } },
    ),
  },
  REVISION_NOT_RESTORABLE: {
    meaning:
      'An earlier release stored the revision, and the current rules reject it. Nothing was changed. `violations` lists the fields to correct.',
    example: new ApiError(
      'FAILED_PRECONDITION',
      'REVISION_NOT_RESTORABLE',
      'The draft cannot be rolled back to this revision, because the current rules reject it: form.steps[1].key repeats the key of steps[0]. Read the revision, correct the fields in violations, and update the form with the result.',
      {
        metadata: { subject: 'form.steps[1].key' },
        preconditionViolations: [
          {
            type: 'FIELD_INVALID',
            subject: 'form.steps[1].key',
            description: 'repeats the key of steps[0]',
          },
        ],
      },
    ),
  },
  STORE_NOT_MIGRATED: {
    meaning: 'A store lacks the indexes of this release. An operator has to run `formctl migrate` once.',
    example: new ApiError(
      'UNAVAILABLE',
      'STORE_NOT_MIGRATED',
      'The forms store is not prepared for this release. Run formctl migrate once, then repeat the request.',
      { metadata: { store: 'forms' }, retryAfterSeconds },
    ),
  },
  STORE_NOT_SUPPORTED: {
    meaning:
      'The server of a store is not set up for this release. An operator has to do what `formctl doctor` says.',
    example: new ApiError(
      'UNAVAILABLE',
      'STORE_NOT_SUPPORTED',
      'The server of the store lacks what this release needs. An operator has to set it up as formctl doctor says.',
      { retryAfterSeconds },
    ),
  },
  STORE_SCHEMA_TOO_NEW: {
    meaning:
      'A newer release has migrated a store. An operator has to upgrade this service, or restore the backup from before the upgrade.',
    example: new ApiError(
      'UNAVAILABLE',
      'STORE_SCHEMA_TOO_NEW',
      'The forms store has version 6 of its schema, for releases with version 6 or later. This release has version 5. Upgrade this service, or restore the backup from before the upgrade.',
      {
        metadata: { store: 'forms', knownVersion: '5', version: '6', oldestVersion: '6' },
        retryAfterSeconds,
      },
    ),
  },
  STORE_UNAVAILABLE: {
    meaning: 'The store is locked, full or unavailable.',
    example: new ApiError(
      'UNAVAILABLE',
      'STORE_UNAVAILABLE',
      'The store cannot be reached just now. Repeat the request in a moment.',
      { retryAfterSeconds },
    ),
  },
  TOO_MANY_AT_ONCE: {
    meaning: 'As many requests of the user or the organization wait or are under way as may.',
    example: tooManyAtOnce('user', 64),
  },
  TOO_MANY_KEYS: {
    meaning: 'You have as many keys as a user may create. Delete some.',
    example: new ApiError(
      'FAILED_PRECONDITION',
      'TOO_MANY_KEYS',
      'You have 100 API keys, the most that a user may create. Delete keys that are no longer needed, then repeat the request.',
      { metadata: { limit: '100' } },
    ),
  },
  TOO_MANY_STREAMS: {
    meaning: 'The key or the organization has reached its limit of open event streams.',
    example: tooManyStreams('key', 5),
  },
  TOO_MANY_WRONG_KEYS: {
    meaning:
      'Too many unknown keys are being looked up. This one may be valid. Keys in use are not affected.',
    example: tooManyWrongKeys(64),
  },
  UNSUPPORTED_MEDIA_TYPE: {
    meaning: 'The content-type of the body is not `application/json`.',
    example: unsupportedMediaType('text/plain'),
  },
  UPDATE_ABORTED: {
    meaning: 'Other writes changed the form during every attempt. Nothing was changed.',
    example: new ApiError(
      'ABORTED',
      'UPDATE_ABORTED',
      `Other requests kept changing ${form}. Repeat the request.`,
      {
        metadata: { form },
        retryAfterSeconds,
      },
    ),
  },
  UPSTREAM_UNAVAILABLE: {
    meaning: 'A service behind the gateway does not respond.',
    example: upstreamUnavailable('forms', undefined),
  },
  WRITE_FORBIDDEN: {
    meaning: 'You have only read access: `because` is `role` for a viewer, `key` for a read-only key.',
    example: writeForbidden('role'),
  },
} satisfies Record<string, Reason>

export type ReasonName = keyof typeof reasons
