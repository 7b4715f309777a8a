import { z } from 'zod'
import { FormWarning, PreconditionViolation } from './error.ts'
import { liveAlias } from './revision.ts'

/** What `to` of a comparison may name beside the revisions: the current draft. */
export const draftRef = 'draft'

/** A parameter whose empty value means the default. */
const parameter = (byDefault: string) =>
  z
    .string({ error: 'must be given once' })
    .overwrite((text) => text || byDefault)
    .default(byDefault)

export const ChangesQuery = z
  .strictObject({
    from: parameter(liveAlias).describe('The former state: the UUID of a revision, `live`, or `latest`.'),
    to: parameter(draftRef).describe(
      'The later state: `draft`, or a revision: its UUID, `live`, or `latest`.',
    ),
  })
  .refine(({ from }) => from !== draftRef, {
    path: ['from'],
    error: `must be a revision: \`${draftRef}\` is allowed only in \`to\``,
  })

/** Kind of a change. An element that has moved and changed has a `MOVED` and further changes. */
export const ChangeKind = z.enum(['ADDED', 'REMOVED', 'CHANGED', 'MOVED']).meta({ id: 'ChangeKind' })
export type ChangeKind = z.infer<typeof ChangeKind>

/** Kind of a change that orphans answers which respondents have already given to a question. */
export const BreakingChange = z
  .enum(['STEP_REMOVED', 'STEP_TYPE_CHANGED', 'OPTION_REMOVED'])
  .meta({ id: 'BreakingChange' })
export type BreakingChange = z.infer<typeof BreakingChange>

const pointer = z.string().optional()
const value = z.unknown().optional()

export const FormChange = z
  .strictObject({
    kind: ChangeKind,
    field: z
      .string()
      .describe(
        'Path such as `form.steps[2].title`, with the indexes of `to`, or of `from` if `kind` is `REMOVED`. Cut off with `…` after 500 characters.',
      ),
    fromPointer: pointer.describe(
      'JSON Pointer (RFC 6901) of the value in the form of `from`. Absent if `kind` is `ADDED`.',
    ),
    toPointer: pointer.describe(
      'JSON Pointer (RFC 6901) of the value in the form of `to`. Absent if `kind` is `REMOVED`.',
    ),
    before: value.describe('The value in `from`. Absent if `kind` is `ADDED` or `MOVED`.'),
    after: value.describe('The value in `to`. Absent if `kind` is `REMOVED` or `MOVED`.'),
    breaking: BreakingChange.optional().describe(
      'Present if the change orphans answers that respondents have already given to a question.',
    ),
  })
  .meta({ id: 'FormChange', description: 'One difference between two states of a form.' })
export type FormChange = z.infer<typeof FormChange>

/** What a publish of a draft would report, and what may be better. */
const checkShape = {
  publishable: z.boolean().describe('Whether `violations` is empty.'),
  violations: z
    .array(PreconditionViolation)
    .describe('What a publish of the draft would report as `DRAFT_NOT_PUBLISHABLE`, at most 1,000.'),
  warnings: z
    .array(FormWarning)
    .describe('What the catalogue of steps would do otherwise, at most 100. Warnings prevent nothing.'),
}

export const FormCheck = z
  .strictObject(checkShape)
  .meta({ id: 'FormCheck', description: 'What a publish of a draft would report, and what may be better.' })
export type FormCheck = z.infer<typeof FormCheck>

const ofDraft = <T>(schema: z.ZodType<T>) =>
  schema.optional().describe(`${schema.description} Present if \`to\` is \`draft\`.`)

/** Response to a comparison. `publishable`, `violations` and `warnings` are present if `to` is the draft. */
export const FormChanges = z
  .strictObject({
    from: z.string().describe('Path of the revision.'),
    to: z.string().describe('Path of the revision; of the form, if `to` is `draft`.'),
    changes: z.array(FormChange).describe('Empty if all fields of the maker are equal.'),
    breakingCount: z
      .int()
      .min(0)
      .max(2 ** 31 - 1)
      .describe('Number of changes with `breaking`.'),
    publishable: ofDraft(checkShape.publishable),
    violations: ofDraft(checkShape.violations),
    warnings: ofDraft(checkShape.warnings),
  })
  .meta({ id: 'FormChanges', description: 'The differences between two states of a form.' })
export type FormChanges = z.infer<typeof FormChanges>
