import { KeyedMutex } from '@fms/store-kit/mongodb'
import type { DeletionDocument, FormsCollections } from '../documents.ts'
import { addUsage } from '../usage.ts'

/** Documents that one request deletes at most. */
const maxBatch = 500

/** Serializes the clearing of each form in this process. */
const mutex = new KeyedMutex()

/** Deletes the revisions and replies of every deleted form. Skips a form whose clearing fails; the next run retries it. */
export const clearDeletions = async (collections: FormsCollections, signal: AbortSignal): Promise<void> => {
  for await (const deletion of collections.deletions.find({})) {
    if (signal.aborted) return
    await clearForm(collections, deletion, signal).catch(() => {})
  }
}

/** Clears the remains of a deleted form with this id, so that a new form can have it. */
export const clearFormerForm = async (
  collections: FormsCollections,
  { organizationId, formId }: { organizationId: string; formId: string },
): Promise<void> => {
  const deletion = await collections.deletions.findOne({ organizationId, _id: formId })
  if (deletion) await clearForm(collections, deletion)
}

const clearForm = (
  collections: FormsCollections,
  deletion: DeletionDocument,
  signal?: AbortSignal,
): Promise<void> =>
  mutex.runExclusive(`${deletion.organizationId}/${deletion._id}`, async () => {
    const { forms, publicIds, deletions } = collections
    const { organizationId, _id: formId, publicId } = deletion
    const key = { organizationId, _id: formId }
    // A form that still exists: its delete is in progress, or crashed before it deleted the form.
    const isGone = async () => (await deletions.has(key)) && !(await forms.has(key))
    if (!(await isGone())) return
    // The query names the form: another one may have the public id by now.
    await publicIds.deleteOne({ _id: publicId, organizationId, formId })
    // Checked before each batch: another process may have finished, and the form may exist again.
    while (!signal?.aborted && (await isGone())) {
      if (await clearBatch(collections, organizationId, formId)) await deletions.deleteOne(key)
    }
  })

/** @returns whether nothing is left. Indexes: replies_by_form and revisions_by_number. */
const clearBatch = async (
  collections: FormsCollections,
  organizationId: string,
  formId: string,
): Promise<boolean> => {
  const { replies, revisions } = collections
  const batch = { limit: maxBatch, fields: ['bytes'] }
  const all = { organizationId, formId }
  const counted = await Array.fromAsync(replies.find(all, { limit: maxBatch, fields: ['_id'] }))
  if (counted.length > 0) {
    await replies.deleteMany({ organizationId, _id: { $in: counted.map(({ _id }) => _id) } })
    return false
  }
  const found = await Array.fromAsync(revisions.find(all, batch))
  if (found.length === 0) return true
  const ids = found.map(({ _id }) => _id)
  const cleared = await revisions.deleteMany({ organizationId, _id: { $in: ids } })
  // When another process clears concurrently, usage stays too high rather than too low.
  const bytes = found.reduce((sum, revision) => sum + (revision.bytes ?? 0), 0)
  if (cleared === found.length) await addUsage(collections, organizationId, { forms: 0, bytes: -bytes })
  return false
}
