import { writeConflict } from '@fms/store-kit/mongodb'
import { changedFields } from '../../events/recorded-event.ts'
import type { FormRef, Quota, StoredForm } from '../../forms-store.ts'
import { draftFields, type FormsCollections, toStoredForm, unchanged } from '../documents.ts'
import { findFormWithRoom } from '../events/find-form-with-room.ts'
import { type ChangeRecorder, isFull, recordEvent } from '../events/record-event.ts'
import { countWrite } from '../usage.ts'

/** One attempt to change a draft: stores it with its event if the form has not changed since it was read. */
export const updateForm = async (
  collections: FormsCollections,
  quota: Quota,
  ref: FormRef,
  change: (current: StoredForm) => StoredForm | Promise<StoredForm>,
  { context, onRecorded }: ChangeRecorder,
): Promise<StoredForm | undefined | typeof writeConflict> => {
  const form = await findFormWithRoom(collections, ref)
  if (!form) return undefined
  const current = toStoredForm(form)
  const changed = await change(current)
  if (changed === current) {
    return (await collections.forms.confirm(unchanged(form))) ? changed : writeConflict
  }
  if (isFull(form)) return writeConflict
  const fields = { ...draftFields(changed), ...recordEvent(form, updateOf(current, changed), context) }
  const growth = { forms: 0, bytes: Buffer.byteLength(changed.draftJson) - form.bytes }
  const stored = await countWrite(collections, quota, form.organizationId, growth, () =>
    collections.forms.setAndGet(unchanged(form), fields),
  )
  if (!stored) return writeConflict
  onRecorded(form.organizationId, 'form.updated')
  return toStoredForm(stored)
}

/** The event of an update. Replies that are counted meanwhile do not change its ETags. */
const updateOf = (before: StoredForm, after: StoredForm) =>
  ({
    type: 'form.updated',
    before,
    after,
    time: after.updateTime,
    more: { fields: changedFields(before.draftJson, after.draftJson) },
  }) as const
