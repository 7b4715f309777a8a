/** A canonical status code (google.rpc.Code). */
export type Status =
  | 'INVALID_ARGUMENT'
  | 'FAILED_PRECONDITION'
  | 'UNAUTHENTICATED'
  | 'PERMISSION_DENIED'
  | 'NOT_FOUND'
  | 'ALREADY_EXISTS'
  | 'ABORTED'
  | 'OUT_OF_RANGE'
  | 'RESOURCE_EXHAUSTED'
  | 'INTERNAL'
  | 'UNAVAILABLE'
  | 'DEADLINE_EXCEEDED'

/** An invalid field of a request, and the expected value. */
export interface FieldViolation {
  /** A path such as `form.steps[2].key`; `""` means the whole body. */
  field: string
  description: string
}

/** A rule that keeps a draft from being published, and the part of the draft that breaks it. */
export interface PreconditionViolation {
  /** The kind of rule, upper snake case. */
  type: string
  /** A field path or a resource path. */
  subject: string
  description: string
}

/** The body of every error response (AIP-193). */
export interface ErrorBody {
  error: {
    /** The HTTP status code. */
    code: number
    status: Status
    message: string
    details: ErrorDetail[]
  }
}

/** The typed details of an error (google/rpc/error_details.proto). */
export type ErrorDetail =
  | Detail<'ErrorInfo', { reason: string; domain: 'forms'; metadata: Record<string, string> }>
  | Detail<'BadRequest', { fieldViolations: FieldViolation[] }>
  | Detail<'PreconditionFailure', { violations: PreconditionViolation[] }>
  | Detail<'RetryInfo', { retryDelay: string }>
  | Detail<'RequestInfo', { requestId: string }>

type Detail<Name extends string, Members> = { '@type': `type.googleapis.com/google.rpc.${Name}` } & Members
