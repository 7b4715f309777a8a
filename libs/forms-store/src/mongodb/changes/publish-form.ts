import { writeConflict } from '@fms/store-kit/mongodb'
import { type ChangeContext, operatorContext, revisionMembers } from '../../events/recorded-event.ts'
import type { FormRef, Quota, StoredForm, TakeSnapshot } from '../../forms-store.ts'
import {
  type FormDocument,
  type FormsCollections,
  formKey,
  incarnationOf,
  newRevisionDocument,
  type RevisionDocument,
  toStoredForm,
  unchanged,
} from '../documents.ts'
import { makeRoom } from '../events/collect-events.ts'
import { type ChangeRecorder, recordEvent } from '../events/record-event.ts'
import { findForm } from '../find-form.ts'
import { findLiveRevision, findRevisionOfForm } from '../find-revision.ts'
import { addUsage, countWrite } from '../usage.ts'
import { commandKey, release, releaseUnlessShared, reserveCommand } from './reservations.ts'

export interface PublishCommand {
  ref: FormRef
  commandId: string
  snapshot: TakeSnapshot
  beforeStoring: (() => void) | undefined
  recorder: ChangeRecorder
}

type Published = StoredForm | 'elsewhere' | undefined

/** Repeats a compare-and-set of a form until it succeeds, or ABORTED. */
type RetryOnConflict = <T>(ref: FormRef, attempt: () => Promise<T | typeof writeConflict>) => Promise<T>

/** A revision that a publish has stored, and the form as its snapshot has it. */
interface StoredPublish {
  revision: RevisionDocument
  published: StoredForm
}

/** What a publish keeps from one attempt for the next. */
interface Progress {
  /** The form for which this publish has reserved its command. */
  form?: FormDocument
  stored?: StoredPublish | undefined
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
  const form = await findForm(collections, command.ref)
  if (progress.stored) return finishPublish(collections, form, progress, command)
  if (!form) return undefined
  const isSame = progress.form?.incarnation === form.incarnation
  const isRepeat = isSame || (await reserve(collections, form, command, progress))
  if (isRepeat === 'elsewhere') return 'elsewhere'
  if (isRepeat) {
    const earlier = await findRevisionOfForm(collections, incarnationOf(form), command.commandId)
    if (earlier) return repeatPublish(collections, form, earlier, command)
  }
  if (await makeRoom(collections, form)) return writeConflict
  const revision = await storeRevision(collections, quota, form, command, progress)
  if (!revision) {
    // Another publish has stored a revision with this number, and may have been killed since.
    await finishNext(collections, form, command.recorder)
    return writeConflict
  }
  progress.stored = { revision, published: { ...toStoredForm(form), live: true } }
  return finishPublish(collections, form, progress, command)
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

/**
 * Takes the snapshot, adds its bytes to the usage, and inserts it.
 *
 * @returns undefined when the number or the command has a revision already.
 */
const storeRevision = async (
  collections: FormsCollections,
  quota: Quota,
  form: FormDocument,
  { commandId, snapshot, beforeStoring, recorder }: PublishCommand,
  progress: Progress,
): Promise<RevisionDocument | undefined> => {
  const taken = await snapshot(toStoredForm(form), () => findLiveRevision(collections, form))
  const { organizationId, formId, incarnation } = incarnationOf(form)
  const number = form.revisionNumber + 1
  const revision = { ...taken, organizationId, formId, commandId, number }
  const wasLive = form.liveRevisionId !== null
  const context = JSON.stringify(recorder.context)
  const document = newRevisionDocument(revision, incarnation, { wasLive, context })
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

/**
 * Makes a revision of this publish visible. Removes it if its form is gone, or was taken down since the snapshot: then the
 * next attempt takes another one.
 *
 * @param form as it was read last.
 * @returns the form as published.
 */
const finishPublish = async (
  collections: FormsCollections,
  form: FormDocument | undefined,
  progress: Progress,
  command: PublishCommand,
): Promise<StoredForm | undefined | typeof writeConflict> => {
  const { revision, published } = progress.stored!
  const { organizationId, formId: _id, incarnation, number } = revision
  const key = { organizationId, _id, incarnation }
  if (form?.incarnation !== incarnation) {
    // A failover may take back a delete that no majority has.
    if (await collections.forms.confirm(key)) return writeConflict
    await removeRevision(collections, revision)
    await release(collections.commands, commandKey(revision.organizationId, revision.commandId), revision)
    return undefined
  }
  if (isVisible(form, revision)) {
    if (!(await isStored(collections, revision))) {
      progress.stored = undefined
      return writeConflict
    }
    // The next publish has finished this one.
    const isDurable = await collections.forms.confirm({ ...key, revisionNumber: { $gte: number } })
    return isDurable ? published : writeConflict
  }
  if (isOutdated(form, revision)) {
    if (await discard(collections, form, revision)) progress.stored = undefined
    return writeConflict
  }
  return (await makeVisible(collections, form, revision, command.recorder)) ? published : writeConflict
}

/** Whether the revision is there: its number may belong to another one after it was discarded. */
const isStored = (
  { revisions }: FormsCollections,
  { organizationId, formId, incarnation, revisionId }: RevisionDocument,
): Promise<boolean> => revisions.has({ organizationId, formId, incarnation, revisionId })

/**
 * Whether an unpublish came between the snapshot of the next revision and the present state of the form. Such a revision
 * never becomes visible: a change of the form on condition of an earlier state has no effect.
 */
const isOutdated = (form: FormDocument, { wasLive = false }: RevisionDocument): boolean =>
  wasLive && form.liveRevisionId === null

/** Deletes an outdated revision. @returns false when a failover may take back the unpublish. */
const discard = async (
  collections: FormsCollections,
  form: FormDocument,
  revision: RevisionDocument,
): Promise<boolean> => {
  const { revisionNumber, liveNumber } = form
  if (!(await collections.forms.confirm({ ...unchanged(form), revisionNumber, liveNumber }))) return false
  await removeRevision(collections, revision)
  return true
}

/** @returns the form as it is now, where an earlier delivery of the command has stored a revision. */
const repeatPublish = async (
  collections: FormsCollections,
  form: FormDocument,
  earlier: RevisionDocument,
  command: PublishCommand,
): Promise<StoredForm | undefined | typeof writeConflict> => {
  const { forms, revisions } = collections
  const { revisionId, number } = earlier
  if (!(await revisions.confirm({ ...incarnationOf(form), revisionId }))) return writeConflict
  if (!isVisible(form, earlier)) {
    await finishNext(collections, form, command.recorder)
    return writeConflict
  }
  if (form.liveNumber < number) {
    // An import may have a revision that is later than the live one.
    await moveLive(collections, form, earlier, command)
    return writeConflict
  }
  const isDurable = await forms.confirm({ ...formKey(form), revisionNumber: { $gte: number } })
  if (!isDurable) return writeConflict
  const current = await forms.findOne(formKey(form))
  return current && toStoredForm(current)
}

const isVisible = (form: FormDocument, { number }: RevisionDocument) => number <= form.revisionNumber

/**
 * Makes the revision visible that comes after the visible ones, if there is one, or discards it if it is outdated. Its
 * publish is in progress or was killed. Its event has the revision's id, so that there is one whoever records it.
 *
 * @returns whether there was one. The form may have changed then.
 */
export const finishNext = async (
  collections: FormsCollections,
  form: FormDocument,
  recorder: ChangeRecorder,
): Promise<boolean> => {
  const { revisions } = collections
  const key = { ...incarnationOf(form), number: form.revisionNumber + 1 }
  const next = await revisions.findOne(key)
  if (!next) return false
  if (isOutdated(form, next)) await discard(collections, form, next)
  else if (await revisions.confirm({ ...key, revisionId: next.revisionId })) {
    await makeVisible(collections, form, next, recorder)
  }
  return true
}

/** Raises `revisionNumber` to the next revision, makes it live and records its event. @returns whether it did. */
const makeVisible = async (
  collections: FormsCollections,
  form: FormDocument,
  revision: RevisionDocument,
  recorder: ChangeRecorder,
): Promise<boolean> => {
  if (await makeRoom(collections, form)) return false
  const { revisionId, number, createTime } = revision
  const event = { ...publishOf(form, revision), time: new Date(createTime), id: revisionId }
  const context: ChangeContext = revision.context ? JSON.parse(revision.context) : operatorContext
  const live = { revisionNumber: number, liveNumber: number, liveRevisionId: revisionId }
  return setLive(collections, form, { ...live, ...recordEvent(form, event, context) }, recorder)
}

/** Moves `live` forward to a revision that is visible already. */
const moveLive = async (
  collections: FormsCollections,
  form: FormDocument,
  revision: RevisionDocument,
  { recorder }: PublishCommand,
): Promise<void> => {
  if (await makeRoom(collections, form)) return
  const event = { ...publishOf(form, revision), time: new Date() }
  const live = { liveNumber: revision.number, liveRevisionId: revision.revisionId }
  await setLive(collections, form, { ...live, ...recordEvent(form, event, recorder.context) }, recorder)
}

const publishOf = (form: FormDocument, revision: RevisionDocument) => {
  const before = toStoredForm(form)
  const more = revisionMembers(before, revision)
  return { type: 'form.published', before, after: { ...before, live: true }, more } as const
}

/** @returns whether the form was as it was read. Release 0.1.0 moves `live` without an event. */
const setLive = async (
  { forms }: FormsCollections,
  form: FormDocument,
  fields: Partial<FormDocument>,
  { onRecorded }: ChangeRecorder,
): Promise<boolean> => {
  const { revisionNumber, liveNumber } = form
  const isSet = await forms.set({ ...unchanged(form), revisionNumber, liveNumber }, fields)
  if (isSet) onRecorded(form.organizationId, 'form.published')
  return isSet
}

/** Deletes a revision that is not visible. */
const removeRevision = async (
  collections: FormsCollections,
  { organizationId, formId, incarnation, revisionId, bytes }: RevisionDocument,
): Promise<void> => {
  if (await collections.revisions.deleteOne({ organizationId, formId, incarnation, revisionId })) {
    await addUsage(collections, organizationId, { forms: 0, bytes: -bytes })
  }
}
