import { writeConflict } from '@fms/store-kit/mongodb'
import { draftChange, splitChange } from '../../events/recorded-event.ts'
import type { ChangedForm, FormRef, Quota, RestoredRevision, StoredForm } from '../../forms-store.ts'
import { draftFields, toStoredForm } from '../convert-documents.ts'
import type { FormsCollections } from '../documents.ts'
import { findFormWithRoom } from '../events/find-form-with-room.ts'
import { type ChangeRecorder, isFull, recordEvent } from '../events/record-event.ts'
import { unchanged } from '../form-queries.ts'
import { sendChange, targetOf } from '../request-ids/request-in-progress.ts'
import { countWrite } from '../usage.ts'

/** One attempt to change a draft: stores it with its event if the form has not changed since it was read. */
export const updateForm = async (
  collections: FormsCollections,
  quota: Quota,
  ref: FormRef,
  change: (current: StoredForm) => ChangedForm | Promise<ChangedForm>,
  recorder: ChangeRecorder,
  restored?: RestoredRevision,
): Promise<StoredForm | undefined | typeof writeConflict> => {
  const form = await findFormWithRoom(collections, ref)
  if ((await recorder.request?.recognize(ref, targetOf(form))) === writeConflict) return writeConflict
  if (!form) return undefined
  const current = toStoredForm(form)
  const changed = await change(current)
  if (changed === current) {
    return (await collections.forms.confirm(unchanged(form))) ? changed : writeConflict
  }
  if (isFull(form)) return writeConflict
  const { fields: names, form: after } = splitChange(current, changed)
  // Replies that are counted meanwhile do not change the ETags of the event.
  const event = { ...draftChange(current, names, restored), before: current, after, time: after.updateTime }
  const recorded = recordEvent(form, { ...event, ...recorder.request?.eventFields }, recorder.context)
  const fields = { ...draftFields(changed), ...recorded }
  const growth = { forms: 0, bytes: Buffer.byteLength(changed.draftJson) - form.bytes }
  const stored = await countWrite(collections, quota, form.organizationId, growth, () =>
    sendChange(recorder, () => collections.forms.setAndGet(unchanged(form), fields)),
  )
  if (!stored) return writeConflict
  recorder.onRecorded(form.organizationId, event.type)
  return toStoredForm(stored)
}
