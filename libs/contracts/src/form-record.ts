import { z } from 'zod'
import { Form, FormDraft } from './form.ts'
import { UserPath } from './key.ts'
import { formPath, isPublicId, Uuid } from './resource-names.ts'
import { RevisionNote } from './revision.ts'
import { Count, Timestamp } from './text.ts'

/** Limit for a draft as JSON in UTF-8. A form then fits the default `max_payload` of NATS, 1 MiB. */
export const maxDraftBytes = 768 * 1024

const atLeastOne = Count.refine((count) => count > 0, { error: 'must be 1 or more' })

const RevisionRecord = z.strictObject({
  revisionId: Uuid,
  number: atLeastOne,
  commandId: Uuid,
  createTime: Timestamp,
  /** `users/{user_id}`. Absent for an unknown publisher. */
  publisher: UserPath.exactOptional(),
  note: RevisionNote.min(1, { error: 'must not be empty' }).exactOptional(),
  form: Form,
})

/** Everything that a forms store holds of one form. An export writes one record per line, and an import reads them. */
export const FormRecord = z
  .strictObject({
    organizationId: Uuid,
    formId: Uuid,
    publicId: z.string().refine(isPublicId, { error: 'must be 10 letters and digits' }),
    createTime: Timestamp,
    updateTime: Timestamp,
    /** Number of the draft's current state, incremented by each change. */
    version: atLeastOne,
    draft: FormDraft.refine(
      (draft) => new TextEncoder().encode(JSON.stringify(draft)).length <= maxDraftBytes,
      { error: `must have at most ${maxDraftBytes} bytes as JSON` },
    ),
    /** The revision number that the latest publish reserved. A publish that fails leaves a gap. */
    revisionNumber: Count,
    /** The revision that respondents see; null before the first publish. */
    live: z.strictObject({ revisionId: Uuid, number: atLeastOne }).nullable(),
    /** Of a form that was taken down: revisions up to this number do not become live again. */
    unpublishedNumber: atLeastOne.optional(),
    /** Oldest first. */
    revisions: z.array(RevisionRecord),
    replyCount: Count,
    /** Ids of the replies that `replyCount` includes, sorted. A reply with one of these ids is not counted again. */
    replyIds: z.array(Uuid),
    /** Of a deleted form that can be restored. Absent for a form that is not deleted. */
    deletion: z
      .strictObject({
        deleteTime: Timestamp,
        purgeTime: Timestamp,
        /** `users/{user_id}`; `""` for an operator. */
        deleter: z.union([z.literal(''), UserPath]),
      })
      .exactOptional(),
  })
  .superRefine(checkConsistency)
export type FormRecord = z.infer<typeof FormRecord>

function checkConsistency(record: FormRecord, context: z.core.$RefinementCtx): void {
  const addIssue = (path: PropertyKey[], message: string) =>
    context.addIssue({ code: 'custom', path, message, input: record })
  const { revisions, live } = record

  revisions.forEach((revision, index) => {
    const before = revisions[index - 1]
    if (before && before.number >= revision.number) {
      addIssue(['revisions', index, 'number'], 'must be above the one before')
    }
    if (revision.form.path !== formPath(record)) {
      addIssue(['revisions', index, 'form', 'path'], 'must be that of the form')
    }
  })
  if ((revisions.at(-1)?.number ?? 0) > record.revisionNumber) {
    addIssue(['revisionNumber'], 'must not be below the number of a revision')
  }
  if (live && !revisions.some((each) => each.revisionId === live.revisionId && each.number === live.number)) {
    addIssue(['live'], 'must be one of the revisions')
  }
  if (record.unpublishedNumber !== undefined && (live || record.unpublishedNumber > record.revisionNumber)) {
    addIssue(['unpublishedNumber'], 'must be that of a revision of a form that is not live')
  }
  const hasDuplicates = (values: string[]) => new Set(values).size < values.length
  for (const id of ['revisionId', 'commandId'] as const) {
    if (hasDuplicates(revisions.map((revision) => revision[id])))
      addIssue(['revisions'], `must not repeat a ${id}`)
  }
  if (hasDuplicates(record.replyIds)) addIssue(['replyIds'], 'must not repeat an id')
}
