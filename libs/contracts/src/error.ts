import { z } from 'zod'

/** The canonical statuses in use (google.rpc.Code). */
export const Status = z.enum([
  'INVALID_ARGUMENT',
  'FAILED_PRECONDITION',
  'UNAUTHENTICATED',
  'PERMISSION_DENIED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'ABORTED',
  'RESOURCE_EXHAUSTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DEADLINE_EXCEEDED',
])
export type Status = z.infer<typeof Status>

/** One wrong field of a request: a path such as `form.steps[2].key`, and what is expected there. */
export const FieldViolation = z.strictObject({ field: z.string(), description: z.string() })
export type FieldViolation = z.infer<typeof FieldViolation>

/** One reason why the state of a resource refuses an operation. */
export const PreconditionViolation = z.strictObject({
  /** What kind of rule it is, upper snake case. */
  type: z.string(),
  /** What it is about: a field path or a resource path. */
  subject: z.string(),
  description: z.string(),
})
export type PreconditionViolation = z.infer<typeof PreconditionViolation>

const detailType = <N extends string>(name: N) => z.literal(`type.googleapis.com/google.rpc.${name}` as const)

/** The typed details of an error (google/rpc/error_details.proto). */
export const ErrorDetail = z.discriminatedUnion('@type', [
  z.strictObject({
    '@type': detailType('ErrorInfo'),
    /** Upper snake case, stable; `docs/errors.md` lists them all. */
    reason: z.string(),
    domain: z.literal('forms'),
    /** Every value that the message mentions. */
    metadata: z.record(z.string(), z.string()),
  }),
  z.strictObject({ '@type': detailType('BadRequest'), fieldViolations: z.array(FieldViolation) }),
  z.strictObject({ '@type': detailType('PreconditionFailure'), violations: z.array(PreconditionViolation) }),
  z.strictObject({ '@type': detailType('RetryInfo'), retryDelay: z.string() }),
  z.strictObject({ '@type': detailType('RequestInfo'), requestId: z.string() }),
])
export type ErrorDetail = z.infer<typeof ErrorDetail>

/** The body of every answer that is not a success (AIP-193). */
export const ErrorBody = z.strictObject({
  error: z.strictObject({
    /** The HTTP status code. */
    code: z.int(),
    status: Status,
    /** For people: what is wrong and what to do. */
    message: z.string(),
    details: z.array(ErrorDetail),
  }),
})
export type ErrorBody = z.infer<typeof ErrorBody>

/** A failure on its way between services, before it becomes an {@link ErrorBody} at the edge. */
export const Problem = z.strictObject({
  status: Status,
  reason: z.string(),
  message: z.string(),
  http: z.int().optional(),
  metadata: z.record(z.string(), z.string()).optional(),
  fieldViolations: z.array(FieldViolation).optional(),
  preconditionViolations: z.array(PreconditionViolation).optional(),
  retryAfterSeconds: z.number().optional(),
})
export type Problem = z.infer<typeof Problem>
