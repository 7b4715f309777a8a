import type { TransactionWrite } from '@fms/store-kit/mongodb'
import type { Change } from '../../changes/change.ts'
import { newRevisionDocument } from '../convert-documents.ts'
import type { FormsCollections, RemainsDocument } from '../documents.ts'

/** What one transaction stores at most; MongoDB recommends 1,000 documents. */
const maxDocuments = 1_000
const maxBytes = 4 * 1024 * 1024

/** Documents of one request. */
const batchSize = 100

/** After this time an import that was killed is cleared, in milliseconds. */
const maxImportMs = 60 * 60 * 1_000

/** Whether the history of an imported form is too large for one transaction. */
export const isLarge = ({ revisions = [], replyIds = [], growth }: Change): boolean =>
  revisions.length + replyIds.length > maxDocuments || growth.revisionBytes > maxBytes

/**
 * Stores the revisions and replies of an import under an incarnation that no form has yet, so that they are invisible. If the
 * import is killed, they are cleared later.
 *
 * @returns the write that makes them belong to the form, for its transaction; false if a revision's id is taken.
 */
export const stageImport = async (
  { remains, revisions, replies }: FormsCollections,
  change: Change,
  incarnation: string,
): Promise<{ writes: TransactionWrite[]; matches: number } | false> => {
  const { organizationId, formId } = change
  const staged: RemainsDocument = {
    _id: incarnation,
    organizationId,
    formId,
    clearTime: Date.now() + maxImportMs,
    isCounted: false,
  }
  await remains.insert(staged)
  for (const batch of batchesOf(change.revisions ?? [])) {
    const documents = batch.map((revision) => newRevisionDocument(revision, incarnation))
    if (!(await revisions.insertInOrder(documents))) return false
  }
  for (const batch of batchesOf(change.replyIds ?? [])) {
    await replies.insertInOrder(batch.map((replyId) => ({ organizationId, formId, incarnation, replyId })))
  }
  const unless = { _id: incarnation, organizationId, isBeingCleared: null }
  return { writes: [{ collection: 'remains', deleteOne: unless }], matches: 1 }
}

function* batchesOf<T>(items: readonly T[]): Generator<T[]> {
  for (let first = 0; first < items.length; first += batchSize) yield items.slice(first, first + batchSize)
}
