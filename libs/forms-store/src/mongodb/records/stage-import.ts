import type { FormPath } from '@fms/contracts'
import { type TransactionWrite, writeConflict } from '@fms/store-kit/mongodb'
import type { Change } from '../../changes/change.ts'
import type { FormsCollections } from '../documents.ts'

/** What one transaction stores at most; MongoDB recommends 1,000 documents. */
const maxDocuments = 1_000
const maxBytes = 4 * 1024 * 1024

const maxBatch = 100

/** After this time without another batch, an import that was killed is cleared, in milliseconds. */
const maxPauseMs = 60 * 60 * 1_000

/** Whether the history of a new form is too large for one transaction. */
export const isLarge = ({ form, revisions = [], replyIds = [], growth }: Change): boolean =>
  'insert' in form && (revisions.length + replyIds.length > maxDocuments || growth.revisionBytes > maxBytes)

/**
 * Stores the revisions and replies of an import under an incarnation that no form has yet: they are invisible. If the
 * import is killed, they are cleared later. Each batch is stored only while nobody clears them: none is left behind.
 * @returns the write that makes them part of the form; false if a revision's id is taken, or the import is being cleared.
 */
export const stageImport = async (
  { database, remains }: Pick<FormsCollections, 'database' | 'remains'>,
  { organizationId, formId }: FormPath,
  incarnation: string,
  history: readonly TransactionWrite[],
): Promise<TransactionWrite[] | false> => {
  const clearTime = Date.now() + maxPauseMs
  await remains.insert({ _id: incarnation, organizationId, formId, clearTime, isCounted: false })
  const unlessCleared = { _id: incarnation, organizationId, isBeingCleared: null }
  for (const batch of batchesOf(history)) {
    const extend: TransactionWrite = {
      collection: 'remains',
      update: unlessCleared,
      by: { $set: { clearTime: Date.now() + maxPauseMs } },
    }
    const stored = await database.transaction(async (transaction) => {
      const { matched } = await transaction.write([extend, ...batch])
      return matched === 1 || writeConflict
    })
    if (stored !== true) return false
  }
  return [{ collection: 'remains', deleteOne: unlessCleared }]
}

/** Splits inserts into batches that have at most 4 MiB, unless one document has more. */
function* batchesOf(inserts: readonly TransactionWrite[]): Generator<TransactionWrite[]> {
  let [batch, bytes]: [TransactionWrite[], number] = [[], 0]
  for (const write of inserts) {
    const size = 'insert' in write ? (write.insert.bytes ?? 0) : 0
    if (batch.length === maxBatch || (batch.length > 0 && bytes + size > maxBytes)) {
      yield batch
      ;[batch, bytes] = [[], 0]
    }
    batch.push(write)
    bytes += size
  }
  if (batch.length > 0) yield batch
}
