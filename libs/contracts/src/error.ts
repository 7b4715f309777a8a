import { z } from 'zod'

/** The canonical statuses in use (google.rpc.Code). */
export const Status = z
  .enum([
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
  .meta({ id: 'Status' })
export type Status = z.infer<typeof Status>

/** One wrong field of a request: a path such as `form.steps[2].key`, and what is expected there. */
export const FieldViolation = z
  .strictObject({
    field: z.string().describe('A path such as `form.steps[2].key`; `""` means the whole body.'),
    description: z.string(),
  })
  .meta({ id: 'FieldViolation', description: 'One wrong field of a request.' })
export type FieldViolation = z.infer<typeof FieldViolation>

/** One reason why the state of a resource refuses an operation. */
export const PreconditionViolation = z
  .strictObject({
    type: z.string().describe('What kind of rule it is, upper snake case.'),
    subject: z.string().describe('What it is about: a field path or a resource path.'),
    description: z.string(),
  })
  .meta({ id: 'PreconditionViolation', description: 'What keeps a draft from being published.' })
export type PreconditionViolation = z.infer<typeof PreconditionViolation>

const detail = <N extends string, S extends z.core.$ZodLooseShape>(name: N, shape: S) =>
  z
    .strictObject({ '@type': z.literal(`type.googleapis.com/google.rpc.${name}` as const), ...shape })
    .meta({ id: name })

/** The typed details of an error (google/rpc/error_details.proto). */
export const ErrorDetail = z
  .discriminatedUnion('@type', [
    detail('ErrorInfo', {
      reason: z.string().describe('Upper snake case, stable: what programs look at.'),
      domain: z.literal('forms'),
      metadata: z.record(z.string(), z.string()).describe('Every value that the message mentions.'),
    }),
    detail('BadRequest', { fieldViolations: z.array(FieldViolation) }),
    detail('PreconditionFailure', { violations: z.array(PreconditionViolation) }),
    detail('RetryInfo', {
      retryDelay: z.string().describe('Such as `1s`; the header `Retry-After` says the same in seconds.'),
    }),
    detail('RequestInfo', { requestId: z.string().describe('The same as in the header `x-request-id`.') }),
  ])
  .meta({ id: 'ErrorDetail', description: '`@type` tells which variant it is.' })
export type ErrorDetail = z.infer<typeof ErrorDetail>

/** The body of every answer that is not a success (AIP-193). */
export const ErrorBody = z
  .strictObject({
    error: z.strictObject({
      code: z.int().min(400).max(599).describe('The HTTP status code.'),
      status: Status,
      message: z.string().describe('For people: what is wrong and what to do. Its wording may change.'),
      details: z.array(ErrorDetail),
    }),
  })
  .meta({ id: 'ErrorBody', description: 'The body of every answer that is not a success (AIP-193).' })
export type ErrorBody = z.infer<typeof ErrorBody>

/**
 * A failure on its way between services, before it becomes an {@link ErrorBody} at the edge. Members of a later release
 * are dropped.
 */
export const Problem = z.object({
  status: Status,
  reason: z.string(),
  message: z.string(),
  http: z.int().optional(),
  metadata: z.record(z.string(), z.string()).optional(),
  fieldViolations: z.array(FieldViolation.strip()).optional(),
  preconditionViolations: z.array(PreconditionViolation.strip()).optional(),
  retryAfterSeconds: z.number().optional(),
})
export type Problem = z.infer<typeof Problem>
