import type { Problem } from '@fms/contracts'

/** Why a request of the API can fail. */
export interface Reason {
  meaning: string
  /** What such an answer looks like. */
  example: Omit<Problem, 'reason'>
}

const form = 'organizations/0b7f7c1e-6a9c-4f0e-9d53-9c4b3f1c2a10/forms/Ab3dE6gH9j'
const requestId = '3f0c9a52-8a0f-4f55-8c59-0a3b1d2e4f60'
const retryAfterSeconds = 1

/** Why an operation can fail; `docs/errors.md` has these and those of no operation, with what to do about each. */
export const reasons = {
  API_KEY_INVALID: {
    meaning: 'There is no key in `x-api-key`, or it is malformed, unknown, expired or revoked.',
    example: {
      status: 'UNAUTHENTICATED',
      message:
        'No valid API key came with the request. Send one, as the dashboard showed it, in the header x-api-key.',
    },
  },
  AUTHENTICATION_UNAVAILABLE: {
    meaning: 'Whose key it is cannot be found out now. It says nothing about the key, and nothing was done.',
    example: {
      status: 'UNAVAILABLE',
      message: 'API keys cannot be checked at the moment. Repeat the request a little later.',
      retryAfterSeconds,
    },
  },
  BODY_TOO_LARGE: {
    meaning: 'The body has more than 1 MiB.',
    example: {
      status: 'INVALID_ARGUMENT',
      http: 413,
      message: 'The body is larger than 1048576 bytes. Send a smaller one.',
      metadata: { bodyLimitBytes: '1048576' },
    },
  },
  DRAFT_NOT_PUBLISHABLE: {
    meaning: 'The draft is not ready, and nothing was published. `violations` has all that is wrong.',
    example: {
      status: 'FAILED_PRECONDITION',
      message: 'The draft cannot be published. Change what the violations name, then publish again.',
      metadata: { subject: 'form.steps' },
      preconditionViolations: [
        {
          type: 'QUESTIONS',
          subject: 'form.steps',
          description: 'a structured form needs a step that is neither start nor end',
        },
      ],
    },
  },
  FORM_MOVED: {
    meaning: 'The draft is not in the state that `If-Match` asks for. Nothing was changed.',
    example: {
      status: 'FAILED_PRECONDITION',
      http: 412,
      message: 'The form is now at "4-live.12". Read it again, apply the change to it, and send its ETag.',
      metadata: { form, etag: '"4-live.12"' },
    },
  },
  FORM_NOT_FOUND: {
    meaning: 'The organization has no such form, or no longer.',
    example: {
      status: 'NOT_FOUND',
      message: `There is no form ${form}. List the forms of the organization to see which there are.`,
      metadata: { form },
    },
  },
  INTERNAL: {
    meaning: 'A defect of the service.',
    example: {
      status: 'INTERNAL',
      message: 'Something failed on our side. Report it with the request id of this answer.',
    },
  },
  INVALID_FILTER: {
    meaning: '`filter` cannot be read, or asks for what the list does not offer.',
    example: {
      status: 'INVALID_ARGUMENT',
      message: 'Correct the filter at column 7: expected a value.',
      metadata: { field: 'filter', column: '7', expected: 'a value' },
      fieldViolations: [{ field: 'filter', description: 'column 7: expected a value' }],
    },
  },
  INVALID_IF_MATCH: {
    meaning: '`If-Match` is neither `*` nor a list of tags in double quotes.',
    example: {
      status: 'INVALID_ARGUMENT',
      message: 'If-Match is malformed. Send the ETag as it came, quotes included.',
    },
  },
  INVALID_ORDER_BY: {
    meaning: '`orderBy` cannot be read, or names what the list cannot be sorted by.',
    example: {
      status: 'INVALID_ARGUMENT',
      message: 'Correct the orderBy at column 1: expected one of createTime, name, slug.',
      metadata: { field: 'orderBy', column: '1', expected: 'one of createTime, name, slug' },
      fieldViolations: [
        { field: 'orderBy', description: 'column 1: expected one of createTime, name, slug' },
      ],
    },
  },
  INVALID_PAGE_TOKEN: {
    meaning: '`pageToken` is damaged, or comes from another list, filter, order or user.',
    example: {
      status: 'INVALID_ARGUMENT',
      message: 'pageToken is not one of this list. Start over without it.',
    },
  },
  INVALID_REQUEST: {
    meaning: 'Body or query are wrong in the places that `fieldViolations` lists.',
    example: {
      status: 'INVALID_ARGUMENT',
      message: 'form.nmae is not a known field. Correct what fieldViolations names and send it again.',
      metadata: { field: 'form.nmae' },
      fieldViolations: [{ field: 'form.nmae', description: 'is not a known field' }],
    },
  },
  MALFORMED_JSON: {
    meaning: 'The body is not JSON in UTF-8, is nested too deeply, or holds a member that is never taken.',
    example: {
      status: 'INVALID_ARGUMENT',
      message: 'The body ends at line 1, column 9, before its object does. Send the body as JSON in UTF-8.',
      metadata: { line: '1', column: '9', expected: 'a value' },
    },
  },
  MALFORMED_REQUEST: {
    meaning: 'The request is broken as HTTP, for instance shorter than it announced.',
    example: {
      status: 'INVALID_ARGUMENT',
      message: 'The request is malformed HTTP. Check its headers and its length.',
    },
  },
  ORGANIZATION_NOT_FOUND: {
    meaning: 'There is no such organization, or you are no member of it. The answer does not tell which.',
    example: {
      status: 'NOT_FOUND',
      message: 'You are a member of no organization acme. List your organizations to see which there are.',
      metadata: { organization: 'acme' },
    },
  },
  PUBLISHING_UNAVAILABLE: {
    meaning: 'The publish could not be confirmed as accepted. Repeat it with the `requestId` of `metadata`.',
    example: {
      status: 'UNAVAILABLE',
      message: `Forms cannot be published at the moment. Repeat the request a little later, with requestId ${requestId}.`,
      metadata: { requestId },
      retryAfterSeconds,
    },
  },
  PUBLISH_TIMEOUT: {
    meaning: 'The publish was accepted and is not confirmed in time. It may still happen.',
    example: {
      status: 'DEADLINE_EXCEEDED',
      message: `Publishing is not confirmed yet and may still happen. It is safe to repeat it with requestId ${requestId}.`,
      metadata: { requestId },
      retryAfterSeconds,
    },
  },
  RATE_LIMITED: {
    meaning: 'The key sent more requests in a minute than it may.',
    example: {
      status: 'RESOURCE_EXHAUSTED',
      message: 'This key may send 6000 requests in a minute. Repeat the request in 12 seconds.',
      metadata: { limit: '6000', retryAfterSeconds: '12' },
      retryAfterSeconds: 12,
    },
  },
  REQUEST_ID_REUSED: {
    meaning: 'The `requestId` has published another form of the organization.',
    example: {
      status: 'ALREADY_EXISTS',
      message: `requestId ${requestId} has published another form. Make a new one for this form.`,
      metadata: { requestId },
    },
  },
  REVISION_NOT_FOUND: {
    meaning: 'The form has no such revision. Before the first publish, that goes for `live` too.',
    example: {
      status: 'NOT_FOUND',
      message: `There is no revision ${form}/revisions/live. Publish the form, or list its revisions.`,
      metadata: { revision: `${form}/revisions/live` },
    },
  },
  STORE_NOT_MIGRATED: {
    meaning: 'A store lacks the indexes of this release. Its operator has to run `formctl migrate` once.',
    example: {
      status: 'UNAVAILABLE',
      message:
        'The forms store is not prepared for this release. Run formctl migrate once, then repeat the request.',
      metadata: { store: 'forms' },
      retryAfterSeconds,
    },
  },
  STORE_UNAVAILABLE: {
    meaning: 'The store is locked, full or out of reach.',
    example: {
      status: 'UNAVAILABLE',
      message: 'The store cannot be used at the moment. Repeat the request a little later.',
      retryAfterSeconds,
    },
  },
  UNSUPPORTED_MEDIA_TYPE: {
    meaning: 'The body does not say that it is `application/json`.',
    example: {
      status: 'INVALID_ARGUMENT',
      http: 415,
      message:
        'A body of type text/plain is not understood. Send JSON with the header content-type: application/json.',
      metadata: { contentType: 'text/plain' },
    },
  },
  UPDATE_ABORTED: {
    meaning: 'Others kept changing the form until the deadline. Nothing was changed.',
    example: {
      status: 'ABORTED',
      message: `Others kept changing ${form}. Repeat the request.`,
      metadata: { form },
      retryAfterSeconds,
    },
  },
  UPSTREAM_UNAVAILABLE: {
    meaning: 'A service behind the gateway does not answer.',
    example: {
      status: 'UNAVAILABLE',
      message: 'The service forms does not answer at the moment. Repeat the request a little later.',
      metadata: { service: 'forms' },
      retryAfterSeconds,
    },
  },
  WRITE_FORBIDDEN: {
    meaning: 'You may only read here: `because` is `role` for a viewer, `key` for a read-only key.',
    example: {
      status: 'PERMISSION_DENIED',
      message: 'A viewer reads only. Ask an owner of the organization for the role editor.',
      metadata: { because: 'role' },
    },
  },
} satisfies Record<string, Reason>

export type ReasonName = keyof typeof reasons
