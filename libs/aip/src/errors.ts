import type {
  ErrorBody,
  ErrorDetail,
  FieldViolation,
  PreconditionViolation,
  Problem,
  Status,
} from '@fms/contracts'

export type { ErrorBody, FieldViolation, PreconditionViolation, Problem, Status } from '@fms/contracts'

/** The HTTP status code of each canonical status (google/rpc/code.proto). */
export const httpStatusOf: Record<Status, number> = {
  INVALID_ARGUMENT: 400,
  FAILED_PRECONDITION: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  ALREADY_EXISTS: 409,
  ABORTED: 409,
  OUT_OF_RANGE: 400,
  RESOURCE_EXHAUSTED: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
  DEADLINE_EXCEEDED: 504,
}

/** The optional parts of an {@link ApiError}. */
export interface ErrorParts {
  /** The HTTP status code if it differs from {@link httpStatusOf} (405, 412, 413, 415). */
  http?: number
  /** Every value in the message, as a string (AIP-193). */
  metadata?: Record<string, string>
  fieldViolations?: FieldViolation[]
  preconditionViolations?: PreconditionViolation[]
  /** Seconds after which a retry may succeed: `RetryInfo` and `Retry-After`. */
  retryAfterSeconds?: number
  /** Further response headers, such as `allow`. */
  headers?: Record<string, string>
  /** For logs only; never sent to a client. */
  cause?: unknown
  /** What an operator has to check, as a sentence without secrets. For logs only; never sent to a client. */
  advice?: string
}

const detailType = <N extends string>(name: N) => `type.googleapis.com/google.rpc.${name}` as const

/** `ErrorInfo.domain` of all reasons. */
const domain = 'forms'

/**
 * An error response (AIP-193): a canonical status, a reason, a message that says what to do next, and typed details.
 *
 * `reason` is stable and in upper snake case. Each reason has one constructor function in the `errors.ts` next to the
 * code that throws it, and one line in `docs/errors.md`.
 */
export class ApiError extends Error {
  readonly status: Status
  readonly reason: string
  readonly httpStatus: number
  readonly parts: ErrorParts

  constructor(status: Status, reason: string, message: string, parts: ErrorParts = {}) {
    super(message, { cause: parts.cause })
    this.name = 'ApiError'
    this.status = status
    this.reason = reason
    this.httpStatus = parts.http ?? httpStatusOf[status]
    this.parts = parts
  }

  /** The response body, with `requestId` in its `RequestInfo`. */
  toBody(requestId: string): ErrorBody {
    const { metadata = {}, fieldViolations, preconditionViolations, retryAfterSeconds } = this.parts
    const details: ErrorDetail[] = [
      { '@type': detailType('ErrorInfo'), reason: this.reason, domain, metadata },
    ]
    if (fieldViolations) details.push({ '@type': detailType('BadRequest'), fieldViolations })
    if (preconditionViolations) {
      details.push({ '@type': detailType('PreconditionFailure'), violations: preconditionViolations })
    }
    if (retryAfterSeconds !== undefined) {
      details.push({ '@type': detailType('RetryInfo'), retryDelay: `${retryAfterSeconds}s` })
    }
    details.push({ '@type': detailType('RequestInfo'), requestId })
    return { error: { code: this.httpStatus, status: this.status, message: this.message, details } }
  }

  /** The error for a message between services, without `cause`, `advice` and `headers`. */
  toProblem(): Problem {
    const { cause: _cause, advice: _advice, headers: _headers, ...parts } = this.parts
    return { status: this.status, reason: this.reason, message: this.message, ...parts }
  }

  static fromProblem({ status, reason, message, ...parts }: Problem): ApiError {
    return new ApiError(status, reason, message, parts)
  }
}

/** Thrown by a store for an outcome that is no failure, such as the replay of a request. Metrics do not count it. */
export abstract class ExpectedOutcome extends Error {}

/** Maximum number of field violations in an error response. */
export const maxFieldViolations = 1000

/** INVALID_REQUEST: the request has invalid fields. Lists the first 1,000. */
export const invalidRequest = (violations: FieldViolation[]) => {
  const fieldViolations = violations.slice(0, maxFieldViolations)
  const [first] = fieldViolations
  const more =
    fieldViolations.length < violations.length ? `at least ${maxFieldViolations}` : violations.length - 1
  const others = violations.length > 1 ? ` (and ${more} more)` : ''
  return new ApiError(
    'INVALID_ARGUMENT',
    'INVALID_REQUEST',
    `${first?.field || 'The body'} ${first?.description}${others}. Correct the fields in fieldViolations, then repeat the request.`,
    { fieldViolations, metadata: { field: first?.field ?? '' } },
  )
}
