import { writeConflict } from '@fms/store-kit/mongodb'
import { assertLive } from '../../errors.ts'
import { unpublishChange } from '../../events/recorded-event.ts'
import type { FormRef, FormState, StoredForm } from '../../forms-store.ts'
import { toStoredForm } from '../convert-documents.ts'
import type { FormsCollections } from '../documents.ts'
import { findFormWithRoom } from '../events/find-form-with-room.ts'
import { type ChangeRecorder, isFull, recordEvent } from '../events/record-event.ts'
import { unchanged } from '../form-queries.ts'
import { sendChange, targetOf } from '../request-ids/request-in-progress.ts'

/**
 * One attempt to take a form down. Raises `liveNumber`, so that no visible revision becomes live again. A publish in
 * progress, with an earlier snapshot, takes another one: see `isOutdated`.
 */
export const unpublishForm = async (
  collections: FormsCollections,
  ref: FormRef,
  note: string,
  check: (current: FormState) => void,
  recorder: ChangeRecorder,
): Promise<StoredForm | undefined | typeof writeConflict> => {
  const form = await findFormWithRoom(collections, ref)
  if ((await recorder.request?.recognize(ref, targetOf(form))) === writeConflict) return writeConflict
  if (!form) return undefined
  const before = toStoredForm(form)
  check(before)
  assertLive(ref, before)
  if (isFull(form)) return writeConflict
  const { organizationId, revisionNumber, liveNumber, liveRevisionId } = form
  const live = { revisionId: liveRevisionId!, number: liveNumber }
  const event = { ...unpublishChange(before, live, note), ...recorder.request?.eventFields }
  const recorded = recordEvent(form, event, recorder.context)
  const isSet = await sendChange(recorder, () =>
    collections.forms.set(
      { ...unchanged(form), revisionNumber, liveNumber },
      { liveNumber: revisionNumber, liveRevisionId: null, ...recorded },
    ),
  )
  if (!isSet) return writeConflict
  recorder.onRecorded(organizationId, 'form.unpublished')
  return { ...before, live: false }
}
