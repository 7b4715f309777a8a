import type { StoredRevision } from '../forms-store.ts'
import { type FormsCollections, newRevisionDocument, type RevisionDocument } from './documents.ts'
import { addUsage } from './usage.ts'

/** Whether the form of a revision is there: what makes the revision visible. */
export const hasForm = (
  { forms }: FormsCollections,
  { organizationId, formId }: Pick<StoredRevision, 'organizationId' | 'formId'>,
): Promise<boolean> => forms.has({ organizationId, _id: formId })

/** Takes away a revision that nobody sees. */
export const removeRevision = async (
  collections: FormsCollections,
  { organizationId, _id, bytes = 0 }: Pick<RevisionDocument, 'organizationId' | '_id' | 'bytes'>,
): Promise<void> => {
  if (await collections.revisions.deleteOne({ organizationId, _id })) {
    await addUsage(collections, organizationId, { forms: 0, bytes: -bytes })
  }
}

/** More than one is needed only while the revision in the way is being taken away. */
const maxAttempts = 5

/**
 * Stores a snapshot, once a command. A form that is deleted at the same time takes away the revisions that it finds;
 * one that comes after that is taken back here, and a kill before that leaves a revision that nobody sees.
 */
export const insertRevision = async (
  collections: FormsCollections,
  revision: StoredRevision,
): Promise<'inserted' | 'exists' | 'gone'> => {
  const { revisions } = collections
  const { organizationId, commandId, revisionId } = revision
  if (!(await hasForm(collections, revision))) return 'gone'
  for (let attempt = 1; !(await revisions.insert(newRevisionDocument(revision))); attempt++) {
    const earlier = await revisions.findOne({ organizationId, commandId })
    if (earlier && (await hasForm(collections, earlier))) return 'exists'
    if (attempt === maxAttempts) throw new Error(`Revision ${revisionId} has an id or a number that is taken`)
    // What a deleted form left, and is in the way.
    if (earlier) await removeRevision(collections, earlier)
  }
  if (await hasForm(collections, revision)) return 'inserted'
  await revisions.deleteOne({ organizationId, _id: revisionId })
  return 'gone'
}
