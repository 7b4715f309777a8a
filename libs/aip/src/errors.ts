import {
  type ErrorBody,
  type ErrorDetail,
  type FieldViolation,
  type PreconditionViolation,
  type Problem,
  type Reason,
  type ReasonMetadata,
  type ReasonName,
  reasons,
  type Status,
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
 * An error response (AIP-193). Create it with {@link apiError}; one from another release may have an unknown `reason`.
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

export const maxViolations = 1000

/** The parts of an error that its reason leaves open. */
type OpenParts = Omit<ErrorParts, 'http' | 'metadata'> & {
  /** A special case of the message of the reason. */
  message?: string
}

/** An error with a reason of the table in libs/contracts. Lists the first 1,000 violations. */
export const apiError = <R extends ReasonName>(
  name: R,
  metadata: ReasonMetadata<R>,
  { message, fieldViolations, preconditionViolations, ...parts }: OpenParts = {},
): ApiError => {
  const reason: Reason = reasons[name]
  const { status, http, retryAfterSeconds } = reason
  const violations = summaryOf(fieldViolations ?? preconditionViolations)
  return new ApiError(status, name, message ?? reason.message(metadata, violations), {
    http,
    metadata: metadata as Record<string, string>,
    fieldViolations: fieldViolations?.slice(0, maxViolations),
    preconditionViolations: preconditionViolations?.slice(0, maxViolations),
    retryAfterSeconds,
    ...parts,
  })
}

/** The first violation, and how many more there are. The checks of a draft end at 1,000. */
const summaryOf = (violations: readonly (FieldViolation | PreconditionViolation)[] = []): string => {
  const [first] = violations
  if (!first) return ''
  const subject = 'field' in first ? first.field : first.subject
  const more = Math.min(violations.length - 1, maxViolations)
  const atLeast = violations.length < maxViolations ? '' : 'at least '
  return `${subject || 'The body'} ${first.description}${more === 0 ? '' : ` (and ${atLeast}${more} more)`}`
}

export const invalidRequest = (fieldViolations: FieldViolation[]) =>
  apiError('INVALID_REQUEST', { field: fieldViolations[0]?.field ?? '' }, { fieldViolations })
