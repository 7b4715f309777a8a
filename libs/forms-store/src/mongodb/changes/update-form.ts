import { writeConflict } from '@fms/store-kit/mongodb'
import type { FormRef, Quota, StoredForm } from '../../forms-store.ts'
import { draftFields, type FormsCollections, formKey, toStoredForm } from '../documents.ts'
import { findForm } from '../find-form.ts'
import { countWrite } from '../usage.ts'

/** One attempt to change a draft: stores it if the form still has the version that was read. */
export const updateForm = async (
  collections: FormsCollections,
  quota: Quota,
  ref: FormRef,
  change: (current: StoredForm) => StoredForm | Promise<StoredForm>,
): Promise<StoredForm | undefined | typeof writeConflict> => {
  const form = await findForm(collections, ref)
  if (!form) return undefined
  const current = toStoredForm(form)
  const changed = await change(current)
  if (changed === current) {
    return (await collections.forms.confirm({ ...formKey(form), version: form.version }))
      ? changed
      : writeConflict
  }
  const growth = { forms: 0, bytes: Buffer.byteLength(changed.draftJson) - form.bytes }
  const stored = await countWrite(collections, quota, form.organizationId, growth, () =>
    collections.forms.setAndGet({ ...formKey(form), version: form.version }, draftFields(changed)),
  )
  return stored ? toStoredForm(stored) : writeConflict
}
