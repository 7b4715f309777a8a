import type { StoredRevision } from '../../forms-store.ts'
import { type FormsCollections, newRevisionDocument, type RevisionDocument } from '../documents.ts'
import { hasForm } from '../find-revision.ts'
import { addUsage } from '../usage.ts'

/** Deletes a revision that a deleted form left. */
export const removeRevision = async (
  collections: FormsCollections,
  { organizationId, _id, bytes = 0 }: Pick<RevisionDocument, 'organizationId' | '_id' | 'bytes'>,
): Promise<void> => {
  if (await collections.revisions.deleteOne({ organizationId, _id })) {
    await addUsage(collections, organizationId, { forms: 0, bytes: -bytes })
  }
}

/** The first attempt suffices, unless a revision of a deleted form has the same command. */
const maxAttempts = 5

/**
 * Stores a snapshot, at most one per command. A concurrent delete of the form removes the revisions that it finds. If the
 * form is gone after the insert, this removes the revision again; a crash before that leaves a revision that is invisible.
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
    if (earlier) await removeRevision(collections, earlier)
  }
  if (await hasForm(collections, revision)) return 'inserted'
  await revisions.deleteOne({ organizationId, _id: revisionId })
  return 'gone'
}
