import { KeyedMutex } from '@fms/store-kit/mongodb'
import type { DeletionDocument, FormsCollections } from './documents.ts'
import { addUsage } from './usage.ts'

/** So many documents one request clears at the most. */
const maxBatch = 500

/** A form is cleared once at a time in this process. */
const mutex = new KeyedMutex()

/** Clears what forms that are gone have left. What cannot be cleared now does not hold up the rest. */
export const clearDeletions = async (collections: FormsCollections, signal: AbortSignal): Promise<void> => {
  for await (const deletion of collections.deletions.find({})) {
    if (signal.aborted) return
    await clearForm(collections, deletion, signal).catch(() => {})
  }
}

/** Clears what is left of a form that had this id, so that another may take it. */
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
    // A form that is there still: its delete is under way, or was killed before it took effect.
    const isGone = async () => (await deletions.has(key)) && !(await forms.has(key))
    if (!(await isGone())) return
    // Unless another form has it by now.
    await publicIds.deleteOne({ _id: publicId, organizationId, formId })
    // Before each batch: another process may have finished, and the form may be there again.
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
  // Where another process clears as well, too much stays counted rather than too little.
  const bytes = found.reduce((sum, revision) => sum + (revision.bytes ?? 0), 0)
  if (cleared === found.length) await addUsage(collections, organizationId, { forms: 0, bytes: -bytes })
  return false
}
