import { randomUUID } from 'node:crypto'
import { retryOnConflict, writeConflict } from '@fms/store-kit/mongodb'
import { updateAborted } from '../../errors.ts'
import type { ChangeContext } from '../../events/recorded-event.ts'
import type { FormRef, FormState } from '../../forms-store.ts'
import { noQuota } from '../../quota.ts'
import {
  type DeletionDocument,
  eventFields,
  type FormDocument,
  type FormsCollections,
  formByRef,
  incarnationOf,
  isAlive,
  sizeFields,
  toFormState,
  unchanged,
} from '../documents.ts'
import { type ChangeRecorder, nextEvents, pendingFields } from '../events/record-event.ts'
import { findForm } from '../find-form.ts'
import { countWrite } from '../usage.ts'
import { release } from './reservations.ts'

/**
 * Deletes a form in steps: inserts a note into `deletions`, deletes the form, which makes its revisions and replies
 * invisible, releases its public id and confirms the note. `collectEvents` moves the events of the note to the log, and
 * `clearDeletions` deletes the rest later. An attempt that loses to a concurrent change removes its note; the note of a
 * killed attempt has no effect while the form exists.
 *
 * @returns false when there is no such form.
 * @throws {ApiError} UPDATE_ABORTED when concurrent changes won until the deadline.
 */
export const deleteForm = async (
  collections: FormsCollections,
  ref: FormRef,
  check: (current: FormState) => void,
  { context, onRecorded }: ChangeRecorder,
): Promise<boolean> => {
  const { forms, deletions, publicIds } = collections
  const attempt = async () => {
    const form = await findForm(collections, ref, [...eventFields, ...sizeFields])
    if (!form) return (await isAbsent(collections, ref)) ? undefined : writeConflict
    check(toFormState(form))
    const note = newNote(form, context)
    await deletions.insert(note)
    const growth = { forms: -1, bytes: -form.bytes }
    const remove = () => forms.deleteOne(unchanged(form))
    const { organizationId } = form
    if (await countWrite(collections, noQuota, organizationId, growth, remove, incarnationOf(form))) {
      return note
    }
    // Otherwise the attempt may have deleted the form: an engine that was killed may have forgotten the response.
    if (await isAlive(collections, note)) await deletions.deleteOne({ organizationId, _id: note._id })
    return writeConflict
  }
  const note = await retryOnConflict(attempt, () => updateAborted(ref))
  if (!note) return false
  await Promise.all([release(publicIds, note.publicId, note), confirmNote(collections, note)])
  onRecorded(note.organizationId, 'form.deleted')
  return true
}

/** The note of an attempt, with the events that the form has pending and that of the delete. */
const newNote = (form: FormDocument, context: ChangeContext): DeletionDocument => {
  const now = Date.now()
  const event = { type: 'form.deleted', before: toFormState(form), time: new Date(now) } as const
  return {
    _id: randomUUID(),
    ...incarnationOf(form),
    publicId: form.publicId,
    beginTime: now,
    clearTime: now,
    isCleared: false,
    eventNumber: form.eventNumber ?? 0,
    ...pendingFields(nextEvents(form, event, context)),
    collectTime: alwaysDue,
    isConfirmed: false,
  }
}

/** A time that has passed by every clock. */
const alwaysDue = 1

/** Notes that this attempt has deleted the form, unless its events are in the log already. */
const confirmNote = (
  { deletions }: FormsCollections,
  { organizationId, _id }: DeletionDocument,
): Promise<boolean> =>
  deletions.set(
    { organizationId, _id, collectTime: { $gt: 0 } },
    { isConfirmed: true, collectTime: alwaysDue },
  )

/** Whether there is no such form, and a failover brings none back that an earlier attempt has deleted. */
const isAbsent = async ({ forms, publicIds }: FormsCollections, ref: FormRef): Promise<boolean> => {
  const query = formByRef(ref)
  if (!query) return true
  if (query._id !== undefined) return !(await forms.confirm(query))
  // On shards, a write needs the form's id.
  const { organizationId, publicId } = query
  const reserved = await publicIds.findOne({ _id: publicId, organizationId })
  if (!reserved) return !(await publicIds.confirm({ _id: publicId, organizationId }))
  return !(await forms.confirm({ organizationId, _id: reserved.formId, publicId }))
}
