import { randomUUID } from 'node:crypto'
import { retryOnConflict, writeConflict } from '@fms/store-kit/mongodb'
import { type Deletion, deleteChange, newDeletion } from '../../deletions/deletion.ts'
import { updateAborted } from '../../errors.ts'
import type { FormRef, FormState } from '../../forms-store.ts'
import { noQuota } from '../../quota.ts'
import { eventFields, sizeFields, toFormState } from '../convert-documents.ts'
import type { DeletionDocument, FormDocument, FormsCollections, Incarnation } from '../documents.ts'
import { alwaysDue, type ChangeRecorder, nextEvents, pendingFields } from '../events/record-event.ts'
import { confirmedFields } from '../events/resolve-deletions.ts'
import { findForm } from '../find-form.ts'
import { formByIdEach, formByRef, incarnationOf, isAlive, unchanged } from '../form-queries.ts'
import { sendChange, targetOf } from '../request-ids/request-in-progress.ts'
import { countWrite } from '../usage.ts'
import { removeLateInsert } from './insert-form.ts'
import { release } from './reservations.ts'

/** A form, or only one incarnation of it. */
type DeletedRef = FormRef & Partial<Pick<Incarnation, 'incarnation'>>

/**
 * Deletes a form in steps: inserts a note into `deletions`, deletes the form, which makes its revisions and replies
 * invisible, confirms the note, and removes the form once more if a late insert has stored it meanwhile. `collectEvents`
 * moves the events of the note to the log. If the form can be restored, the note contains it until it is purged; otherwise
 * its public id is released, and `clearDeletions` deletes the rest later. An attempt that loses to a concurrent change
 * removes its note; the note of a killed attempt has no effect while the form exists.
 *
 * @param days how long the form can be restored. Default: 0.
 * @returns false when there is no such form.
 * @throws {ApiError} UPDATE_ABORTED when concurrent changes won until the deadline.
 */
export const deleteForm = async (
  collections: FormsCollections,
  ref: DeletedRef,
  check: (current: FormState) => void,
  recorder: ChangeRecorder,
  days = 0,
): Promise<boolean> => {
  const attempt = () => attemptDelete(collections, ref, check, recorder, days)
  const note = await retryOnConflict(attempt, () => updateAborted(ref))
  if (!note) return false
  // Otherwise a collection may have found that another attempt has deleted the form, so that it can be restored.
  const isConfirmed = await confirmNote(collections, note)
  if (isConfirmed && !note.form) await release(collections.publicIds, note.publicId, note)
  await removeLateInsert(collections, note)
  recorder.onRecorded(note.organizationId, 'form.deleted')
  return true
}

/** @returns the note of the delete; undefined when there is no such form. */
const attemptDelete = async (
  collections: FormsCollections,
  ref: DeletedRef,
  check: (current: FormState) => void,
  recorder: ChangeRecorder,
  days: number,
): Promise<DeletionDocument | undefined | typeof writeConflict> => {
  const { forms, deletions } = collections
  const form = await findForm(collections, ref, days > 0 ? undefined : deletedFields)
  if ((await recorder.request?.recognize(ref, targetOf(form))) === writeConflict) return writeConflict
  if (!form) return ref.incarnation || (await isAbsent(collections, ref)) ? undefined : writeConflict
  check(toFormState(form))
  // After the read: notes of an earlier incarnation of the form have earlier times.
  const now = new Date()
  const deletion = newDeletion(now, days, recorder.context.actor)
  const note = newNote(form, now, deletion, recorder)
  const { organizationId, _id } = note
  await removeEarlierNotes(collections, form)
  await deletions.insert(note)
  const growth = { forms: -1, bytes: deletion ? 0 : -form.bytes }
  const noted = { ...incarnationOf(form), undeleteCount: form.undeleteCount }
  const remove = () => sendChange(recorder, () => forms.deleteOne(wholly(form)))
  if (await countWrite(collections, noQuota, organizationId, growth, remove, noted)) return note
  // Otherwise the attempt may have deleted the form: an engine that was killed may have forgotten the response.
  if (await isAlive(collections, note)) await deletions.deleteOne({ organizationId, _id })
  return writeConflict
}

const deletedFields = [
  ...eventFields,
  ...sizeFields,
  'undeleteCount',
  'revisionNumber',
  'liveNumber',
  'cancelledNumber',
] as const satisfies readonly (keyof FormDocument)[]

/** The query that finds a form in exactly this state: the note of the delete contains it. */
const wholly = (form: FormDocument) => {
  const { revisionNumber, liveNumber, replyCount, cancelledNumber = null } = form
  return { ...unchanged(form), revisionNumber, liveNumber, replyCount, cancelledNumber }
}

/** A number that grows with each change of a form, also with those that have no event. */
const changeNumberOf = (form: FormDocument): number =>
  form.version + form.revisionNumber + form.liveNumber + form.replyCount + (form.cancelledNumber ?? 0)

/**
 * Removes the notes of earlier deletes that killed undeletes have left: once the form is gone again, nobody could tell
 * them from its own. Index: deletions_by_form.
 */
const removeEarlierNotes = async ({ deletions }: FormsCollections, form: FormDocument): Promise<void> => {
  if (!form.undeleteCount) return
  await deletions.deleteMany({ ...incarnationOf(form), eventNumber: { $lt: form.eventNumber ?? 0 } })
}

/** The note of an attempt, with the events that the form has pending and that of the delete. */
const newNote = (
  form: FormDocument,
  now: Date,
  deletion: Deletion | undefined,
  { context, request }: ChangeRecorder,
): DeletionDocument => {
  const event = { ...deleteChange(toFormState(form), now, deletion), ...request?.eventFields }
  const { pendingEvents: _, ...withoutEvents } = form
  return {
    _id: randomUUID(),
    ...incarnationOf(form),
    publicId: form.publicId,
    beginTime: now.getTime(),
    clearTime: deletion?.purgeTime.getTime() ?? now.getTime(),
    isCleared: false,
    eventNumber: form.eventNumber ?? 0,
    ...pendingFields(nextEvents(form, event, context)),
    collectTime: alwaysDue,
    isConfirmed: false,
    changeNumber: changeNumberOf(form),
    ...(form.undeleteCount && { undeleteCount: form.undeleteCount }),
    ...(deletion && {
      form: { ...withoutEvents, pendingCount: 0, pendingTime: 0 },
      purgeTime: deletion.purgeTime.getTime(),
      deleter: deletion.deleter,
    }),
  }
}

/** Notes that this attempt has deleted the form, unless a collection has found that already. */
const confirmNote = ({ deletions }: FormsCollections, note: DeletionDocument): Promise<boolean> => {
  const { organizationId, _id } = note
  const isOpen = { organizationId, _id, collectTime: { $gt: 0 }, isConfirmed: false }
  return deletions.set(isOpen, { ...confirmedFields(note), collectTime: alwaysDue })
}

/** Whether there is no such form, and a failover brings none back that an earlier attempt has deleted. */
const isAbsent = async ({ forms, publicIds }: FormsCollections, ref: FormRef): Promise<boolean> => {
  const query = formByRef(ref)
  if (!query) return true
  // On shards, a write needs the form's id.
  if ('_id' in query) {
    const { organizationId, formRef } = ref
    const keys = formByIdEach({ organizationId, formId: formRef.toLowerCase() })
    return (await forms.confirmEach(keys)) === 0
  }
  const { organizationId, publicId } = query
  const reserved = await publicIds.findOne({ _id: publicId, organizationId })
  if (!reserved) return !(await publicIds.confirm({ _id: publicId, organizationId }))
  const keys = formByIdEach({ organizationId, formId: reserved.formId })
  return (await forms.confirmEach(keys.map((key) => ({ ...key, publicId })))) === 0
}
