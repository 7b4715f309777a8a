import { retryOnConflict, type TransactionWrite, writeConflict } from '@fms/store-kit/mongodb'
import { type Growth, growthOf } from '../changes/change.ts'
import { updateAborted } from '../errors.ts'
import type { FormsCollections, RemainsDocument, ReplyDocument, RevisionDocument } from './documents.ts'
import { addGrowth } from './usage.ts'

const maxBatch = 100
const repliesPerBatch = 1_000

/** By default, clears those that are due. Indexes: remains_by_clearTime, revisions_by_number. */
export const clearRemains = async (
  collections: FormsCollections,
  signal?: AbortSignal,
  incarnation?: string,
): Promise<void> => {
  const query = incarnation ? { _id: incarnation } : { clearTime: { $lte: Date.now() } }
  for await (const remains of collections.remains.find(query)) {
    if (signal?.aborted) return
    await clearIncarnation(collections, remains, signal)
  }
}

const clearIncarnation = async (
  collections: FormsCollections,
  remains: RemainsDocument,
  signal?: AbortSignal,
): Promise<void> => {
  const { _id, organizationId, formId } = remains
  const all = { organizationId, formId, incarnation: _id }
  let outcome: Awaited<ReturnType<typeof clearBatch>> = 'more'
  while (outcome === 'more' && !signal?.aborted) {
    outcome = await retryOnConflict(
      () => clearBatch(collections, remains, all),
      () => updateAborted({ organizationId, formRef: formId }),
    )
  }
  if (outcome !== 'cleared') return
  let found: ReplyDocument[]
  do {
    if (signal?.aborted) return
    found = await collections.replies.findDurable(all, { limit: repliesPerBatch, fields: ['_id'] })
    await collections.replies.deleteMany({ ...all, _id: { $in: found.map((reply) => reply._id) } })
  } while (found.length === repliesPerBatch)
  await collections.remains.deleteOne({ _id, organizationId })
}

/**
 * Deletes a batch of revisions and subtracts it from the usage. @returns `cleared` if none are left; `gone` if another
 * process has cleared them, or the import has become visible.
 */
const clearBatch = async (
  { database, revisions, remains }: FormsCollections,
  { _id, organizationId, isCounted }: RemainsDocument,
  all: object,
): Promise<'more' | 'cleared' | 'gone' | typeof writeConflict> => {
  const [remain] = await remains.findDurable({ _id, organizationId }, { limit: 1 })
  if (!remain) return 'gone'
  const found = await revisions.findDurable(all, { limit: maxBatch, fields: ['bytes'] })
  const updates: TransactionWrite[] = [
    // Conflicts with the end of an import, which deletes the document.
    { collection: 'remains', update: { _id, organizationId }, by: { $set: { isBeingCleared: true } } },
    ...(isCounted && found.length > 0 ? [addGrowth(organizationId, lossOf(found))] : []),
  ]
  const ids = found.map((each) => each._id)
  const deletes: TransactionWrite = { collection: 'revisions', deleteMany: { ...all, _id: { $in: ids } } }
  return database.transaction(async (transaction) => {
    const { matched, deleted } = await transaction.write([...updates, deletes])
    if (matched !== updates.length || deleted !== found.length) return writeConflict
    // Before the first batch, the import may have stored more than was found.
    return remain.isBeingCleared && found.length < maxBatch ? 'cleared' : 'more'
  })
}

/** The growth of deleted revisions: negative. */
export const lossOf = (deleted: readonly Pick<RevisionDocument, 'bytes'>[]): Growth => {
  const bytes = -deleted.reduce((sum, revision) => sum + revision.bytes, 0)
  return growthOf({ bytes, revisionBytes: bytes, revisions: -deleted.length })
}
