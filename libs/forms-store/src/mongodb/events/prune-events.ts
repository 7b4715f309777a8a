import type { EventLogDocument, FormsCollections } from '../documents.ts'
import { lastNumbered } from './number-events.ts'

/**
 * Deletes the oldest events of the logs whose oldest event is from before `before`. A log keeps its newest event, which has
 * the total, and those that are not in the stream. Index: eventLogs_by_oldestTime.
 *
 * @returns how many were deleted, at most `limit`.
 */
export const pruneEvents = async (
  collections: FormsCollections,
  before: Date,
  limit: number,
): Promise<number> => {
  const query = { oldestTime: { $lt: before.getTime() } }
  let pruned = 0
  for await (const log of collections.eventLogs.find(query, { sort: { oldestTime: 1 } })) {
    if (pruned === limit) break
    pruned += await pruneLog(collections, log, before, limit - pruned)
  }
  return pruned
}

/** Deletes events from the start of a log up to the first one that has to stay. Index: events_by_position. */
const pruneLog = async (
  collections: FormsCollections,
  { organizationId, streamedSequence }: EventLogDocument,
  before: Date,
  limit: number,
): Promise<number> => {
  const { events, eventLogs } = collections
  const newest = await lastNumbered(collections, organizationId)
  if (!newest) return 0
  const lastSequence = newest.position as number
  const query = { organizationId, position: { $gt: 0 } }
  const options = { sort: { position: 1 }, limit: limit + 1, fields: ['position', 'time'] } as const
  const oldest = await events.findDurable(query, options)
  const hasToStay = oldest.findIndex(
    ({ position, time }, index) =>
      index === limit ||
      time >= before.getTime() ||
      (position as number) > Math.min(streamedSequence, lastSequence - 1),
  )
  // The newest event is always found, or one after `limit`.
  const firstToKeep = oldest[hasToStay]!
  const upTo = { $gt: 0, $lt: firstToKeep.position }
  const pruned = hasToStay === 0 ? 0 : await events.deleteMany({ organizationId, position: upTo })
  const isOnlyNewest = firstToKeep.position === lastSequence
  // A newer event that is announced meanwhile makes this one prunable again: then `announce` has seen the field.
  if (isOnlyNewest) {
    await eventLogs.update(
      { _id: organizationId, announcedSequence: lastSequence },
      { $unset: { oldestTime: '' } },
    )
  } else await eventLogs.set({ _id: organizationId }, { oldestTime: firstToKeep.time })
  return pruned
}
