import { writeConflict } from '@fms/store-kit/mongodb'
import { assertLive } from '../../errors.ts'
import { unpublishChange } from '../../events/recorded-event.ts'
import type { FormRef, FormState, StoredForm } from '../../forms-store.ts'
import { type FormsCollections, toStoredForm, unchanged } from '../documents.ts'
import { makeRoom } from '../events/collect-events.ts'
import { type ChangeRecorder, recordEvent } from '../events/record-event.ts'
import { findForm } from '../find-form.ts'
import { finishNext } from './publish-form.ts'

/**
 * One attempt to take a form down. First finishes a publish that has stored its revision: a repeat of it then has no
 * effect. Raises `liveNumber`, so that no stored revision becomes live again. A publish that stores its revision after
 * this, with an earlier snapshot, discards it: see `isOutdated`.
 */
export const unpublishForm = async (
  collections: FormsCollections,
  ref: FormRef,
  note: string,
  check: (current: FormState) => void,
  recorder: ChangeRecorder,
): Promise<StoredForm | undefined | typeof writeConflict> => {
  const form = await findForm(collections, ref)
  if (!form) return undefined
  const before = toStoredForm(form)
  check(before)
  assertLive(ref, before)
  if (await makeRoom(collections, form)) return writeConflict
  if (await finishNext(collections, form, recorder)) return writeConflict
  const { organizationId, revisionNumber, liveNumber, liveRevisionId } = form
  const live = { revisionId: liveRevisionId!, number: liveNumber }
  const event = recordEvent(form, unpublishChange(before, live, note), recorder.context)
  const isSet = await collections.forms.set(
    { ...unchanged(form), revisionNumber, liveNumber },
    { liveNumber: revisionNumber, liveRevisionId: null, ...event },
  )
  if (!isSet) return writeConflict
  recorder.onRecorded(organizationId, 'form.unpublished')
  return { ...before, live: false }
}
