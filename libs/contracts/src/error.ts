import { z } from 'zod'
import { warningReasons } from './steps/catalogue.ts'

/** The canonical status codes that the API uses (google.rpc.Code). */
export const Status = z
  .enum([
    'INVALID_ARGUMENT',
    'FAILED_PRECONDITION',
    'UNAUTHENTICATED',
    'PERMISSION_DENIED',
    'NOT_FOUND',
    'ALREADY_EXISTS',
    'ABORTED',
    'OUT_OF_RANGE',
    'RESOURCE_EXHAUSTED',
    'INTERNAL',
    'UNAVAILABLE',
    'DEADLINE_EXCEEDED',
  ])
  .meta({ id: 'Status' })
export type Status = z.infer<typeof Status>

/** An invalid field of a request: its path, such as `form.steps[2].key`, and the expected value. */
export const FieldViolation = z
  .strictObject({
    field: z.string().describe('A path such as `form.steps[2].key`; `""` means the whole body.'),
    description: z.string(),
  })
  .meta({ id: 'FieldViolation', description: 'An invalid field of a request.' })
export type FieldViolation = z.infer<typeof FieldViolation>

/** A rule that the state of a resource breaks, so that an operation on it fails. */
export const PreconditionViolation = z
  .strictObject({
    type: z.string().describe('The kind of rule, in upper snake case.'),
    subject: z.string().describe('The field path or resource path that breaks the rule.'),
    description: z.string(),
  })
  .meta({ id: 'PreconditionViolation', description: 'A rule that keeps a draft from being published.' })
export type PreconditionViolation = z.infer<typeof PreconditionViolation>

/** Advice about a field of a form. It prevents nothing. */
export const FormWarning = z
  .strictObject({
    field: z.string().describe('A path such as `form.steps[2].title`.'),
    reason: z
      .string()
      .describe(
        `Stable: programs branch on it. One of ${Object.keys(warningReasons).join(', ')}; more may follow.`,
      ),
    message: z.string().describe('For people. The wording may change.'),
  })
  .meta({ id: 'FormWarning', description: 'Advice about a field of a form. It prevents nothing.' })
export type FormWarning = z.infer<typeof FormWarning>

const detail = <N extends string, S extends z.core.$ZodLooseShape>(name: N, shape: S) =>
  z
    .strictObject({ '@type': z.literal(`type.googleapis.com/google.rpc.${name}` as const), ...shape })
    .meta({ id: name })

/** The typed details of an error (google/rpc/error_details.proto). */
export const ErrorDetail = z
  .discriminatedUnion('@type', [
    detail('ErrorInfo', {
      reason: z.string().describe('Upper snake case and stable: programs branch on it.'),
      domain: z.literal('forms'),
      metadata: z.record(z.string(), z.string()).describe('Every value in the message.'),
    }),
    detail('BadRequest', { fieldViolations: z.array(FieldViolation) }),
    detail('PreconditionFailure', { violations: z.array(PreconditionViolation) }),
    detail('RetryInfo', {
      retryDelay: z
        .string()
        .describe('Such as `1s`; the header `Retry-After` has the same value in seconds.'),
    }),
    detail('RequestInfo', { requestId: z.string().describe('The value of the header `x-request-id`.') }),
  ])
  .meta({ id: 'ErrorDetail', description: '`@type` names the variant.' })
export type ErrorDetail = z.infer<typeof ErrorDetail>

/** The body of every error response (AIP-193). */
export const ErrorBody = z
  .strictObject({
    error: z.strictObject({
      code: z.int().min(400).max(599).describe('The HTTP status code.'),
      status: Status,
      message: z.string().describe('For people: what is wrong, and what to do next. The wording may change.'),
      details: z.array(ErrorDetail),
    }),
  })
  .meta({ id: 'ErrorBody', description: 'The body of every error response (AIP-193).' })
export type ErrorBody = z.infer<typeof ErrorBody>

/** An error in a message between services. The gateway turns it into an {@link ErrorBody}. */
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
