import { z } from 'zod'
import { Form, FormDraft, formPath } from './form.ts'
import { Uuid } from './organization.ts'
import { Count, Timestamp } from './text.ts'

/** A draft as JSON has at most this size. */
const maxDraftBytes = 768 * 1024

const atLeastOne = Count.refine((count) => count > 0, { error: 'must be 1 or more' })

const RevisionRecord = z.strictObject({
  revisionId: Uuid,
  number: atLeastOne,
  commandId: Uuid,
  createTime: Timestamp,
  form: Form,
})

/**
 * Everything that a forms store knows of one form: what an export writes, one record a line, and an import reads.
 */
export const FormRecord = z
  .strictObject({
    organizationId: Uuid,
    formId: Uuid,
    publicId: z.string().regex(/^[A-Za-z0-9]{10}$/, { error: 'must be 10 letters and digits' }),
    createTime: Timestamp,
    updateTime: Timestamp,
    /** Counts the changes of the draft, from 1. */
    version: atLeastOne,
    draft: FormDraft.refine(
      (draft) => new TextEncoder().encode(JSON.stringify(draft)).length <= maxDraftBytes,
      {
        error: `must have at most ${maxDraftBytes} bytes as JSON`,
      },
    ),
    /** The last number that a publish took; one that failed leaves a gap. */
    revisionNumber: Count,
    /** The revision that respondents see; null before the first publish. */
    live: z.strictObject({ revisionId: Uuid, number: atLeastOne }).nullable(),
    /** Oldest first. */
    revisions: z.array(RevisionRecord),
    replyCount: Count,
    /** The replies that were counted, sorted: none of them counts again. */
    replyIds: z.array(Uuid),
  })
  .superRefine(refuseContradictions)
export type FormRecord = z.infer<typeof FormRecord>

/** What the parts of a record say of each other. */
function refuseContradictions(record: FormRecord, context: z.core.$RefinementCtx): void {
  const refuse = (path: PropertyKey[], message: string) =>
    context.addIssue({ code: 'custom', path, message, input: record })
  const { revisions, live } = record

  revisions.forEach((revision, index) => {
    const before = revisions[index - 1]
    if (before && before.number >= revision.number) {
      refuse(['revisions', index, 'number'], 'must be above the one before')
    }
    if (revision.form.path !== formPath(record)) {
      refuse(['revisions', index, 'form', 'path'], 'must be that of the form')
    }
  })
  if ((revisions.at(-1)?.number ?? 0) > record.revisionNumber) {
    refuse(['revisionNumber'], 'must not be below the number of a revision')
  }
  if (live && !revisions.some((each) => each.revisionId === live.revisionId && each.number === live.number)) {
    refuse(['live'], 'must be one of the revisions')
  }
  const repeated = (values: string[]) => new Set(values).size < values.length
  for (const id of ['revisionId', 'commandId'] as const) {
    if (repeated(revisions.map((revision) => revision[id]))) refuse(['revisions'], `must not repeat a ${id}`)
  }
  if (repeated(record.replyIds)) refuse(['replyIds'], 'must not repeat an id')
}
