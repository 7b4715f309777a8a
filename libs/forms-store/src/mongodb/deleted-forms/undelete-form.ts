import { randomUUIDv7 } from 'node:crypto'
import { writeConflict } from '@fms/store-kit/mongodb'
import { undeleteChange } from '../../deletions/deletion.ts'
import { formIdTaken } from '../../errors.ts'
import type { FormRef, Quota, StoredForm } from '../../forms-store.ts'
import { insertForm, removeIfLate } from '../changes/insert-form.ts'
import { toStoredForm } from '../convert-documents.ts'
import type { FormDocument, FormsCollections } from '../documents.ts'
import { collectForm } from '../events/collect-events.ts'
import { type ChangeRecorder, recordEvent } from '../events/record-event.ts'
import { incarnationOf } from '../form-queries.ts'
import { sendChange } from '../request-ids/request-in-progress.ts'
import type { RetryOnConflict } from '../retry-on-conflict.ts'
import { countWrite } from '../usage.ts'
import { findDeleted, isReplaced, type RestorableNote } from './find-deleted.ts'
import { findRestored } from './find-restored.ts'
import { lastEventTime } from './last-event-time.ts'
import { removeNotes, removeRemnant } from './remove-remnant.ts'
import { maxUndeleteMs, sameClaim, undeletesInProgress } from './undeletes-in-progress.ts'

/** The insert of the form has to follow within this time, in milliseconds. */
const maxPauseMs = 5_000

interface UndeleteCommand {
  ref: FormRef
  check: (deleted: StoredForm) => void
  recorder: ChangeRecorder
}

/**
 * Restores a deleted form in repeatable steps: has the events of its note collected, notes that it is being restored,
 * inserts the form with its next event, and removes the note: docs/decisions/0033-restore-deleted-forms.md.
 *
 * @returns undefined when there is no such deleted form.
 * @throws {ApiError} QUOTA_EXCEEDED; FORM_ID_TAKEN when a form with the same id exists.
 */
export const undeleteForm = (
  collections: FormsCollections,
  quota: Quota,
  command: UndeleteCommand,
  retry: RetryOnConflict,
): Promise<StoredForm | undefined> => {
  const eventId = randomUUIDv7()
  return retry(command.ref, () => attemptUndelete(collections, quota, command, eventId))
}

const attemptUndelete = async (
  collections: FormsCollections,
  quota: Quota,
  { ref, check, recorder }: UndeleteCommand,
  newId: string,
): Promise<StoredForm | undefined | typeof writeConflict> => {
  const note = await findCollected(collections, ref)
  if ((await recorder.request?.recognize(ref, note)) === writeConflict) return writeConflict
  if (!note) return undefined
  const form = await findRestored(collections, note)
  if (form) {
    await removeRemnant(collections, note, form)
    return writeConflict
  }
  const deleted = toStoredForm(note.form)
  check(deleted)
  if (await isReplaced(collections, note)) throw formIdTaken(note, false)
  if (note.collectTime !== 0) return writeConflict
  const { id } = recorder.request?.eventFields ?? { id: newId }
  const restored = await restoredForm(collections, note, id, recorder)
  const growth = { forms: 1, bytes: 0 }
  const noted = { ...incarnationOf(restored), undeleteCount: restored.undeleteCount }
  const write = () => restore(collections, note, id, restored, recorder)
  const isRestored = await countWrite(collections, quota, note.organizationId, growth, write, noted)
  if (!isRestored) return writeConflict
  await removeNotes(collections, note)
  recorder.onRecorded(note.organizationId, 'form.undeleted')
  return deleted
}

/** The note of a deleted form. Its events come before that of the undelete, so they move to the log first. */
const findCollected = async (
  collections: FormsCollections,
  ref: FormRef,
): Promise<RestorableNote | undefined> => {
  const note = await findDeleted(collections, ref)
  if (!note || note.collectTime === 0) return note
  await collectForm(collections, note)
  return findDeleted(collections, ref)
}

/** The form as it was, with the event of its undelete. */
const restoredForm = async (
  collections: FormsCollections,
  note: RestorableNote,
  id: string,
  { context }: ChangeRecorder,
): Promise<FormDocument> => {
  const { form } = note
  const eventTime = await lastEventTime(collections, note)
  const event = { ...undeleteChange(toStoredForm(form)), id }
  const recorded = recordEvent({ ...form, eventNumber: note.eventNumber + 1, eventTime }, event, context)
  return { ...form, ...recorded, undeleteCount: (form.undeleteCount ?? 0) + 1 }
}

/** Claims the note, and inserts the form. @returns false if another undelete or purge was faster. */
const restore = async (
  collections: FormsCollections,
  note: RestorableNote,
  id: string,
  restored: FormDocument,
  recorder: ChangeRecorder,
): Promise<boolean> => {
  const startMs = performance.now()
  // The claim has the event id of the request, and excludes undeletes with another one. So the reservation of the request
  // stays once the claim may be stored: then a repeat has the same event id.
  const isClaimed = await sendChange(recorder, () => claim(collections, note, id))
  if (!isClaimed || performance.now() - startMs > maxPauseMs) return false
  const stored = await sendChange(recorder, () => insertForm(collections, restored))
  return stored !== undefined && !(await removeIfLate(collections, stored))
}

/**
 * Excludes other undeletes, purges and counts of replies, unless the note has another undelete already, or has more replies
 * than were read.
 */
const claim = async (
  collections: FormsCollections,
  note: RestorableNote,
  undeleteId: string,
): Promise<boolean> => {
  if (note.undeleteId !== undeleteId && undeletesInProgress(collections).has(note)) return false
  const now = Date.now()
  const fields = { undeleteId, undeleteTime: now, checkTime: now + maxUndeleteMs }
  return collections.deletions.set({ ...sameClaim(note), 'form.replyCount': note.form.replyCount }, fields)
}
