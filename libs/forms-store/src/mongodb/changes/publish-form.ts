import { writeConflict } from '@fms/store-kit/mongodb'
import type { FormRef, Quota, Snapshot, StoredForm } from '../../forms-store.ts'
import {
  type FormDocument,
  type FormsCollections,
  formKey,
  incarnationOf,
  isAlive,
  newRevisionDocument,
  type RevisionDocument,
  toStoredForm,
} from '../documents.ts'
import { findForm } from '../find-form.ts'
import { findRevisionOfForm } from '../find-revision.ts'
import { addUsage, countWrite } from '../usage.ts'
import { commandKey, release, releaseUnlessShared, reserveCommand } from './reservations.ts'

export interface PublishCommand {
  ref: FormRef
  commandId: string
  snapshot: (current: StoredForm) => Snapshot | Promise<Snapshot>
  beforeStoring: (() => void) | undefined
}

type Published = StoredForm | 'elsewhere' | undefined

/** Repeats a compare-and-set of a form until it succeeds, or ABORTED. */
type RetryOnConflict = <T>(ref: FormRef, attempt: () => Promise<T | typeof writeConflict>) => Promise<T>

/** What a publish keeps from one attempt for the next. */
interface Progress {
  /** The form as the last attempt read it. */
  form?: FormDocument
  /** Whether this publish reserved the command and has sent no revision: then its failure frees the command. */
  isUnused: boolean
  /** The error of `beforeStoring`. */
  refusal?: { error: unknown } | undefined
}

/**
 * Publishes in repeatable steps, five requests without conflicts: docs/decisions/0001-publish-in-repeatable-steps.md.
 * Indexes: those of `_id`, and the unique ones of revisions.
 */
export const publishForm = async (
  collections: FormsCollections,
  quota: Quota,
  command: PublishCommand,
  retry: RetryOnConflict,
): Promise<Published> => {
  const progress: Progress = { isUnused: false }
  try {
    return await retry(command.ref, () => attemptPublish(collections, quota, command, progress))
  } catch (error) {
    const { form, isUnused } = progress
    // If this fails, the reservation stays: other forms cannot use the command, and nothing else is affected.
    if (form && isUnused) {
      await releaseUnlessShared(collections, command.commandId, incarnationOf(form)).catch(() => {})
    }
    throw error
  }
}

const attemptPublish = async (
  collections: FormsCollections,
  quota: Quota,
  command: PublishCommand,
  progress: Progress,
): Promise<Published | typeof writeConflict> => {
  const { ref, commandId } = command
  const former = progress.form
  // Before the form is read: a later number never has an earlier draft.
  const highest = former ? await highestNumber(collections, former) : 0
  const form = await findForm(collections, ref)
  if (!form) return undefined
  const isSame = former?.incarnation === form.incarnation
  const isRepeat = isSame || (await reserve(collections, form, command, progress))
  if (isRepeat === 'elsewhere') return 'elsewhere'
  if (isRepeat) {
    const earlier = await findRevisionOfForm(collections, incarnationOf(form), commandId)
    if (earlier) {
      const { revisionId } = earlier
      const isDurable = await collections.revisions.confirm({ ...incarnationOf(form), revisionId })
      return isDurable ? moveLive(collections, form, earlier) : writeConflict
    }
  }
  const number = Math.max(form.revisionNumber, isSame ? highest : 0) + 1
  const revision = await storeRevision(collections, quota, form, number, command, progress)
  return revision ? finishPublish(collections, form, revision) : writeConflict
}

/** Reserves the command. @returns whether the form had it already. */
const reserve = async (
  collections: FormsCollections,
  form: FormDocument,
  { commandId }: PublishCommand,
  progress: Progress,
): Promise<boolean | 'elsewhere'> => {
  const reservation = await reserveCommand(collections, commandId, incarnationOf(form))
  if (reservation === 'elsewhere') return 'elsewhere'
  progress.form = form
  progress.isUnused = reservation === 'reserved'
  return reservation === 'shared'
}

/** The highest number of a revision, even if its publish was killed before it moved `live`; 0 for none. */
const highestNumber = async ({ revisions }: FormsCollections, form: FormDocument): Promise<number> => {
  const query = { sort: { number: -1 }, limit: 1, fields: ['number'] } as const
  const [last] = await Array.fromAsync(revisions.find(incarnationOf(form), query))
  return last?.number ?? 0
}

/**
 * Takes the snapshot, adds its bytes to the usage, and inserts it.
 *
 * @returns undefined when the number or the command has a revision already.
 */
const storeRevision = async (
  collections: FormsCollections,
  quota: Quota,
  form: FormDocument,
  number: number,
  { commandId, snapshot, beforeStoring }: PublishCommand,
  progress: Progress,
): Promise<RevisionDocument | undefined> => {
  const taken = await snapshot(toStoredForm(form))
  const { organizationId, formId, incarnation } = incarnationOf(form)
  const revision = { ...taken, organizationId, formId, commandId, number }
  const document = newRevisionDocument(revision, incarnation)
  const growth = { forms: 0, bytes: Buffer.byteLength(taken.formJson) }
  const { isUnused } = progress
  const isStored = await countWrite(collections, quota, organizationId, growth, async () => {
    progress.refusal = errorOf(beforeStoring)
    if (progress.refusal) return false
    // Until the insert has a result, the revision may exist.
    progress.isUnused = false
    return collections.revisions.insert(document)
  })
  if (progress.refusal) throw progress.refusal.error
  if (isStored) return document
  progress.isUnused = isUnused
  return undefined
}

const errorOf = (check: (() => void) | undefined): { error: unknown } | undefined => {
  try {
    check?.()
    return undefined
  } catch (error) {
    return { error }
  }
}

/** Moves `live` to a new revision. Removes the revision if the form is gone. @returns the form as published. */
const finishPublish = async (
  collections: FormsCollections,
  form: FormDocument,
  revision: RevisionDocument,
): Promise<StoredForm | undefined> => {
  const published = { ...toStoredForm(form), live: true }
  const isLive = await collections.forms.set(notYetLive(form, revision), liveFields(form, revision))
  if (isLive || (await isAlive(collections, incarnationOf(form)))) return published
  await removeRevision(collections, revision)
  await release(
    collections.commands,
    commandKey(form.organizationId, revision.commandId),
    incarnationOf(form),
  )
  return undefined
}

/** Moves `live` to an earlier revision of the command. @returns the form as it is now, or undefined if it is gone. */
const moveLive = async (
  { forms }: FormsCollections,
  form: FormDocument,
  revision: RevisionDocument,
): Promise<StoredForm | undefined> => {
  const moved = await forms.setAndGet(notYetLive(form, revision), liveFields(form, revision))
  const current = moved ?? (await forms.findOne(formKey(form)))
  return current && toStoredForm(current)
}

/** Matches the form unless a later revision is live. */
const notYetLive = (form: FormDocument, { number }: RevisionDocument) => ({
  ...formKey(form),
  liveNumber: { $lt: number },
})

/**
 * The fields of a form whose live revision is this one. A concurrent publish that raised `revisionNumber` beyond what
 * `form` has also raised `liveNumber`, so that the write has no effect: the number never decreases.
 */
const liveFields = (form: FormDocument, { revisionId, number }: RevisionDocument) => ({
  liveRevisionId: revisionId,
  liveNumber: number,
  revisionNumber: Math.max(form.revisionNumber, number),
})

/** Deletes a revision whose form was deleted during the publish. */
const removeRevision = async (
  collections: FormsCollections,
  { organizationId, formId, incarnation, revisionId, bytes }: RevisionDocument,
): Promise<void> => {
  if (await collections.revisions.deleteOne({ organizationId, formId, incarnation, revisionId })) {
    await addUsage(collections, organizationId, { forms: 0, bytes: -bytes })
  }
}
