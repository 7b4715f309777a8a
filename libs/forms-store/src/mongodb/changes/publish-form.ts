import { writeConflict } from '@fms/store-kit/mongodb'
import { type ChangeContext, revisionMembers } from '../../events/recorded-event.ts'
import type { FormRef, Quota, StoredForm, TakeSnapshot } from '../../forms-store.ts'
import { newRevisionDocument, toStoredForm } from '../convert-documents.ts'
import type { FormDocument, FormsCollections, RevisionDocument } from '../documents.ts'
import { findFormWithRoom } from '../events/find-form-with-room.ts'
import { type ChangeRecorder, isFull, recordEvent } from '../events/record-event.ts'
import { formByIdEach, formKey, incarnationOf, isKept, nextNumber, unchanged } from '../form-queries.ts'
import type { RetryOnConflict } from '../retry-on-conflict.ts'
import { findLiveRevision, findRevisionOfForm } from '../revisions/find-revision.ts'
import { addUsage, countWrite } from '../usage.ts'
import { cancelPublish, emptyCancelled } from './cancel-publish.ts'
import { commandKey, release, releaseUnlessShared, reserveCommand } from './reservations.ts'

/** A publish: what `FormsStore.publish` takes. */
export interface PublishCommand {
  ref: FormRef
  commandId: string
  snapshot: TakeSnapshot
  beforeStoring: (() => void) | undefined
  recorder: ChangeRecorder
  /** How long another publish may hold the next number before this one cancels it, in milliseconds. Default: 1,000. */
  cancelAfterMs?: number
}

type Published = StoredForm | 'elsewhere' | undefined

/** A revision that a publish has stored, and the form as its snapshot has it. */
interface StoredPublish {
  revision: RevisionDocument
  published: StoredForm
  /** `mayRelease` before the revision was stored: it holds again if another publish cancels this one. */
  mayReleaseOnceCancelled: boolean
}

/** What a publish keeps from one attempt for the next. */
interface Progress {
  /** The form for which this publish has reserved its command. */
  form?: FormDocument
  stored?: StoredPublish | undefined
  /** Whether a failure releases the command: this publish has reserved it, and no revision of it can be stored. */
  mayRelease: boolean
  /** The error of `beforeStoring`. */
  refusal?: { error: unknown } | undefined
  /** The next number, if another publish has stored its revision with it, and since when, by `performance.now()`. */
  occupied?: { number: number; sinceMs: number } | undefined
}

const defaultCancelAfterMs = 1_000

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
  const progress: Progress = { mayRelease: false }
  try {
    return await retry(command.ref, () => attemptPublish(collections, quota, command, progress))
  } catch (error) {
    const { form, mayRelease } = progress
    // If this fails, the reservation stays: other forms cannot use the command, and nothing else is affected.
    if (form && mayRelease) {
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
  const form = await findFormWithRoom(collections, command.ref)
  if (form) await emptyCancelled(collections, form)
  if (progress.stored) return finishPublish(collections, form, progress.stored, command, progress)
  if (!form) return undefined
  const isSame = progress.form?.incarnation === form.incarnation
  const isRepeat = isSame || (await reserve(collections, form, command, progress))
  if (isRepeat === 'elsewhere') return 'elsewhere'
  if (isRepeat) {
    const earlier = await findRevisionOfForm(collections, incarnationOf(form), command.commandId)
    if (earlier) return repeatPublish(collections, form, earlier, command)
  }
  if (isFull(form)) return writeConflict
  if (isOccupied(form, progress)) {
    await waitOrCancel(collections, form, command, progress)
    return writeConflict
  }
  const mayReleaseOnceCancelled = progress.mayRelease
  const revision = await storeRevision(collections, quota, form, command, progress)
  if (!revision) {
    const isFree = await discardNext(collections, form)
    progress.occupied = isFree ? undefined : { number: nextNumber(form), sinceMs: performance.now() }
    return writeConflict
  }
  const published = { ...toStoredForm(form), live: true }
  progress.stored = { revision, published, mayReleaseOnceCancelled }
  return finishPublish(collections, form, progress.stored, command, progress)
}

const isOccupied = (form: FormDocument, { occupied }: Progress): boolean =>
  occupied?.number === nextNumber(form)

/** Cancels the publish that holds the next number once this one has waited long enough for it. */
const waitOrCancel = async (
  collections: FormsCollections,
  form: FormDocument,
  { cancelAfterMs = defaultCancelAfterMs }: PublishCommand,
  progress: Progress,
): Promise<void> => {
  const { number, sinceMs } = progress.occupied!
  if (performance.now() - sinceMs < cancelAfterMs) return
  if (!(await cancelPublish(collections, form, number))) progress.occupied = undefined
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
  progress.mayRelease = reservation === 'reserved'
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
  const number = nextNumber(form)
  const revision = { ...taken, organizationId, formId, commandId, number }
  const wasLive = form.liveRevisionId !== null
  const context = JSON.stringify(recorder.context)
  const document = newRevisionDocument(revision, incarnation, { wasLive, context })
  const growth = { forms: 0, bytes: Buffer.byteLength(taken.formJson), revisions: 1 }
  const { mayRelease } = progress
  const isStored = await countWrite(collections, quota, organizationId, growth, async () => {
    progress.refusal = errorOf(beforeStoring)
    if (progress.refusal) return false
    // Until the insert has a result, the revision may exist.
    progress.mayRelease = false
    return collections.revisions.insert(document)
  })
  if (progress.refusal) throw progress.refusal.error
  if (isStored) return document
  progress.mayRelease = mayRelease
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
 * Makes a revision of this publish visible. Removes it if its form is gone for good, or was taken down since the snapshot:
 * then the next attempt takes another one.
 *
 * @param form as it was read last.
 * @returns the form as published.
 */
const finishPublish = async (
  collections: FormsCollections,
  form: FormDocument | undefined,
  { revision, published, mayReleaseOnceCancelled }: StoredPublish,
  command: PublishCommand,
  progress: Progress,
): Promise<StoredForm | undefined | typeof writeConflict> => {
  const { incarnation, number } = revision
  if (form?.incarnation !== incarnation) {
    // A failover may take back a delete that no majority has.
    const keys = formByIdEach(revision).map((key) => ({ ...key, incarnation }))
    if ((await collections.forms.confirmEach(keys)) > 0) return writeConflict
    // Once the form is restored, a repeat of the command may make the revision live.
    if (await isKept(collections, revision, [incarnation])) return undefined
    await removeRevision(collections, revision)
    await release(collections.commands, commandKey(revision.organizationId, revision.commandId), revision)
    return undefined
  }
  if (number >= nextNumber(form)) {
    if (!isOutdated(form, revision)) {
      return (await makeVisible(collections, form, revision, command)) ? published : writeConflict
    }
    if (!(await discard(collections, form, revision))) return writeConflict
  } else if (await confirmRevision(collections, revision)) {
    // Another delivery of the command has finished it.
    const isDurable = await collections.forms.confirm({ ...formKey(form), revisionNumber: { $gte: number } })
    return isDurable ? published : writeConflict
  }
  // It is discarded, or another publish has cancelled it.
  progress.stored = undefined
  progress.mayRelease = mayReleaseOnceCancelled
  return writeConflict
}

/**
 * Whether an unpublish came between the snapshot of a revision that is not visible and the present state of the form. Such
 * a revision never becomes visible: a change of the form on condition of an earlier state has no effect. Release 0.1.0 does
 * not store `wasLive`: every such revision of a form that was taken down counts as outdated.
 */
const isOutdated = (form: FormDocument, { wasLive = form.liveNumber > 0 }: RevisionDocument): boolean =>
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

/** Deletes the revision with the next number if it is outdated. @returns whether the number is free. */
const discardNext = async (collections: FormsCollections, form: FormDocument): Promise<boolean> => {
  if (form.liveRevisionId !== null) return false
  const next = await collections.revisions.findOne({ ...incarnationOf(form), number: nextNumber(form) })
  return next !== undefined && isOutdated(form, next) && discard(collections, form, next)
}

/** @returns the form as it is now, where an earlier delivery of the command has stored a revision. */
const repeatPublish = async (
  collections: FormsCollections,
  form: FormDocument,
  earlier: RevisionDocument,
  command: PublishCommand,
): Promise<StoredForm | undefined | typeof writeConflict> => {
  const { forms } = collections
  const { number } = earlier
  if (!(await confirmRevision(collections, earlier))) return writeConflict
  if (number > form.revisionNumber) {
    command.beforeStoring?.()
    if (isOutdated(form, earlier)) await discard(collections, form, earlier)
    else await makeVisible(collections, form, earlier, command)
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

/** Waits until a majority has a revision. @returns false if it is cancelled, or a failover took it back. */
const confirmRevision = (
  { revisions }: FormsCollections,
  { organizationId, formId, incarnation, revisionId }: RevisionDocument,
): Promise<boolean> =>
  revisions.confirm({ organizationId, formId, incarnation, revisionId, isCancelled: null })

/**
 * Raises `revisionNumber` to the next revision, makes it live and records its event, whose id is that of the revision.
 *
 * @returns whether it did: not if the form has changed, or the number is not the next one.
 */
const makeVisible = async (
  collections: FormsCollections,
  form: FormDocument,
  revision: RevisionDocument,
  { recorder }: PublishCommand,
): Promise<boolean> => {
  const { revisionId, number, createTime } = revision
  if (isFull(form) || number !== nextNumber(form)) return false
  const event = { ...publishOf(form, revision), time: new Date(createTime), id: revisionId }
  const context: ChangeContext = revision.context ? JSON.parse(revision.context) : recorder.context
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
  if (isFull(form)) return
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
  const { revisionNumber, liveNumber, cancelledNumber = null } = form
  const isSame = { ...unchanged(form), revisionNumber, liveNumber, cancelledNumber }
  const isSet = await forms.set(isSame, fields)
  if (isSet) onRecorded(form.organizationId, 'form.published')
  return isSet
}

/** Deletes a revision that is not visible. Cancelled ones stay until their form is deleted. */
const removeRevision = async (
  collections: FormsCollections,
  { organizationId, formId, incarnation, revisionId, bytes }: RevisionDocument,
): Promise<void> => {
  const key = { organizationId, formId, incarnation, revisionId, isCancelled: null }
  if (await collections.revisions.deleteOne(key)) {
    await addUsage(collections, organizationId, { forms: 0, bytes: -bytes, revisions: -1 })
  }
}
