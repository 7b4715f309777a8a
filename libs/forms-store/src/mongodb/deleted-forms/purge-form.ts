import { writeConflict } from '@fms/store-kit/mongodb'
import { purgeChange } from '../../deletions/deletion.ts'
import type { FormRef, FormState } from '../../forms-store.ts'
import { release } from '../changes/reservations.ts'
import { toFormState } from '../convert-documents.ts'
import type { FormsCollections } from '../documents.ts'
import { alwaysDue, type ChangeRecorder, nextEvents, pendingFields } from '../events/record-event.ts'
import { sendChange } from '../request-ids/request-in-progress.ts'
import { findDeleted, type RestorableNote } from './find-deleted.ts'
import { findRestored } from './find-restored.ts'
import { lastEventTime } from './last-event-time.ts'
import { removeRemnant } from './remove-remnant.ts'
import { sameClaim, undeletesInProgress } from './undeletes-in-progress.ts'

/** One attempt to purge a deleted form. @returns false when there is no such deleted form. */
export const purgeForm = async (
  collections: FormsCollections,
  ref: FormRef,
  check: (deleted: FormState) => void,
  recorder: ChangeRecorder,
): Promise<boolean | typeof writeConflict> => {
  const note = await findDeleted(collections, ref)
  if ((await recorder.request?.recognize(ref, note)) === writeConflict) return writeConflict
  if (!note) return false
  return (await purgeNote(collections, note, recorder, check)) || writeConflict
}

/**
 * Purges the form of a note: removes it from the note, with its event in the same request. `clearDeletions` deletes the
 * rest. The note stays until its events are in the log.
 *
 * @returns false if the form was restored, is being restored, or was purged meanwhile.
 */
export const purgeNote = async (
  collections: FormsCollections,
  note: RestorableNote,
  recorder: ChangeRecorder,
  check: (deleted: FormState) => void = () => {},
): Promise<boolean> => {
  const restored = await findRestored(collections, note)
  if (restored) await removeRemnant(collections, note, restored)
  if (restored || undeletesInProgress(collections).has(note)) return false
  check(toFormState(note.form))
  const { publicId, pendingEvents = [], pendingCount = 0, eventNumber, organizationId } = note
  const form = {
    ...note.form,
    eventNumber: eventNumber + 1,
    eventTime: await lastEventTime(collections, note),
    pendingEvents,
  }
  const event = { ...purgeChange(), ...recorder.request?.eventFields }
  const events = nextEvents(form, event, recorder.context)
  const isPurged = await sendChange(recorder, () =>
    collections.deletions.set(
      // A collection removes the events of the note.
      { ...sameClaim(note), pendingCount },
      {
        form: null,
        deleteTime: 0,
        purgeTime: 0,
        checkTime: 0,
        clearTime: Date.now(),
        eventNumber: events.at(-1)!.number,
        ...pendingFields(events),
        collectTime: alwaysDue,
      },
    ),
  )
  if (!isPurged) return false
  await release(collections.publicIds, publicId, note)
  recorder.onRecorded(organizationId, 'form.purged')
  return true
}
