import type { EventLogDocument, FormsCollections } from '../documents.ts'

/**
 * Deletes the oldest events of the logs whose oldest event is from before `before`. A log keeps its newest event, and
 * those that are not in the stream. Index: eventLogs_by_oldestTime.
 *
 * @returns the number of deleted events, at most `limit`.
 */
export const pruneEvents = async (
  collections: FormsCollections,
  before: Date,
  limit: number,
): Promise<number> => {
  const old = { isPrunable: true, oldestTime: { $lt: before.getTime() } }
  const logs = collections.eventLogs.find(old, { sort: { oldestTime: 1 }, limit })
  let pruned = 0
  for (const log of await Array.fromAsync(logs)) {
    if (pruned === limit) break
    pruned += await pruneLog(collections, log, before, limit - pruned)
  }
  return pruned
}

/** Deletes events from the start of a log up to the first one that has to stay. Index: events_by_sequence. */
const pruneLog = async (
  { events, eventLogs }: FormsCollections,
  log: EventLogDocument,
  before: Date,
  limit: number,
): Promise<number> => {
  const { _id, organizationId, recordedSequence, streamedSequence } = log
  const key = { _id, organizationId }
  const lastToDelete = Math.min(recordedSequence - 1, streamedSequence)
  const query = { organizationId, sequence: { $lte: lastToDelete } }
  const fields = ['sequence', 'time']
  const oldest = await Array.fromAsync(events.find(query, { sort: { sequence: 1 }, limit, fields }))
  if (oldest.length === 0) {
    // `markStreamed` sets it again once more events are in the stream.
    await eventLogs.set({ ...key, recordedSequence, streamedSequence }, { isPrunable: false })
    return 0
  }
  const firstToKeep = oldest.findIndex(({ time }) => time >= before.getTime())
  const toDelete = firstToKeep < 0 ? oldest : oldest.slice(0, firstToKeep)
  const last = toDelete.at(-1)
  const oldestSequence = (last?.sequence ?? oldest[0]!.sequence - 1) + 1
  const next = oldest[toDelete.length] ?? (await events.findOne({ organizationId, sequence: oldestSequence }))
  // Another process has pruned further.
  if (!next) return 0
  // Before the delete: readers never find a gap after `oldestSequence`.
  const isLater = { ...key, oldestSequence: { $lte: oldestSequence } }
  await eventLogs.set(isLater, { oldestSequence, oldestTime: next.time })
  return last ? events.deleteMany({ organizationId, sequence: { $lte: last.sequence } }) : 0
}
