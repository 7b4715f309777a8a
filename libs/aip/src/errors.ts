import type {
  ErrorBody,
  ErrorDetail,
  FieldViolation,
  PreconditionViolation,
  Problem,
  Status,
} from '@fms/contracts'

export type { ErrorBody, FieldViolation, PreconditionViolation, Problem, Status } from '@fms/contracts'

/**
 * Errors as AIP-193 has them: a canonical status, a message that says what to do next, and typed details.
 *
 * Every failure that a client can meet is an {@link ApiError}; each reason has one constructor function, beside
 * the code that raises it, and one line in `docs/errors.md`.
 */

/** The HTTP code that each canonical status maps to (google/rpc/code.proto). */
export const httpStatusOf: Record<Status, number> = {
  INVALID_ARGUMENT: 400,
  FAILED_PRECONDITION: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  ALREADY_EXISTS: 409,
  ABORTED: 409,
  RESOURCE_EXHAUSTED: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
  DEADLINE_EXCEEDED: 504,
}

export interface ErrorParts {
  /** An HTTP code other than the status's own (405, 412, 413, 415). */
  http?: number
  /** Every value that the message mentions (AIP-193), as strings. */
  metadata?: Record<string, string>
  fieldViolations?: FieldViolation[]
  preconditionViolations?: PreconditionViolation[]
  /** Seconds after which a repeat may help: `RetryInfo` and `Retry-After`. */
  retryAfterSeconds?: number
  /** Further response headers, such as `allow`. */
  headers?: Record<string, string>
  /** For our logs alone; never sent. */
  cause?: unknown
}

const detailType = <N extends string>(name: N) => `type.googleapis.com/google.rpc.${name}` as const

/** The one domain of all our reasons (ErrorInfo.domain). */
const domain = 'forms'

/** A failure with the parts that AIP-193 asks for. `reason` is stable and upper snake case. */
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

  /** The body a client sees. */
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

  /** What travels between services in place of the error; the cause stays here. */
  toProblem(): Problem {
    const { cause: _cause, headers: _headers, ...parts } = this.parts
    return { status: this.status, reason: this.reason, message: this.message, ...parts }
  }

  static fromProblem({ status, reason, message, ...parts }: Problem): ApiError {
    return new ApiError(status, reason, message, parts)
  }
}

/** More of them help nobody, and an answer has to end somewhere. */
export const maxFieldViolations = 1000

/** The request is wrong in the named places; all of them (the first 1,000), not just the first. */
export const invalidRequest = (violations: FieldViolation[]) => {
  const fieldViolations = violations.slice(0, maxFieldViolations)
  const [first] = fieldViolations
  const more =
    fieldViolations.length < violations.length ? `at least ${maxFieldViolations}` : violations.length - 1
  const others = violations.length > 1 ? ` (and ${more} more)` : ''
  return new ApiError(
    'INVALID_ARGUMENT',
    'INVALID_REQUEST',
    `${first?.field || 'The body'} ${first?.description}${others}. Correct what fieldViolations names and send it again.`,
    { fieldViolations, metadata: { field: first?.field ?? '' } },
  )
}
