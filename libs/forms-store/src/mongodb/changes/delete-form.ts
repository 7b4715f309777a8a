import { randomUUID } from 'node:crypto'
import { retryOnConflict, writeConflict } from '@fms/store-kit/mongodb'
import { updateAborted } from '../../errors.ts'
import type { FormRef, FormState } from '../../forms-store.ts'
import { noQuota } from '../../quota.ts'
import {
  type FormsCollections,
  formByRef,
  formKey,
  incarnationOf,
  sizeFields,
  stateFields,
  toFormState,
} from '../documents.ts'
import { findForm } from '../find-form.ts'
import { countWrite } from '../usage.ts'
import { release } from './reservations.ts'

/**
 * Deletes a form in steps: inserts a note into `deletions`, deletes the form, which makes its revisions and replies
 * invisible, and releases its public id. `clearDeletions` deletes the rest later. An attempt that loses to a concurrent
 * change removes its note; the note of a killed attempt has no effect while the form exists.
 *
 * @returns false when there is no such form.
 * @throws {ApiError} UPDATE_ABORTED when concurrent changes won until the deadline.
 */
export const deleteForm = async (
  collections: FormsCollections,
  ref: FormRef,
  check: (current: FormState) => void,
): Promise<boolean> => {
  const { forms, deletions, publicIds } = collections
  const attempt = async () => {
    const form = await findForm(collections, ref, [...stateFields, ...sizeFields])
    if (!form) return (await isAbsent(collections, ref)) ? undefined : writeConflict
    check(toFormState(form))
    const { organizationId, publicId, version } = form
    const [_id, now] = [randomUUID(), Date.now()]
    const incarnation = incarnationOf(form)
    const note = { _id, ...incarnation, publicId, beginTime: now, clearTime: now, isCleared: false }
    await deletions.insert(note)
    const growth = { forms: -1, bytes: -form.bytes }
    const remove = () => forms.deleteOne({ ...formKey(form), version })
    if (await countWrite(collections, noQuota, organizationId, growth, remove, incarnation)) return form
    await deletions.deleteOne({ organizationId, _id })
    return writeConflict
  }
  const form = await retryOnConflict(attempt, () => updateAborted(ref))
  if (!form) return false
  await release(publicIds, form.publicId, incarnationOf(form))
  return true
}

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
