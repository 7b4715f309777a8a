import { mayGo, type Retention } from '../../events/retention.ts'
import type { EventLogDocument, FormsCollections } from '../documents.ts'
import { lastNumbered } from './number-events.ts'

/** See `EventLog.prune`. The usage counts from the oldest event that is left, so a kill leaves it exact. */
export const pruneEvents = async (
  collections: FormsCollections,
  rule: Retention,
  limit: number,
): Promise<number> => {
  let pruned = 0
  for await (const log of findLogs(collections, rule, limit)) {
    if (pruned === limit) break
    pruned += await pruneLog(collections, log, rule, limit - pruned)
  }
  return pruned
}

/** Logs with old events, and logs with too many. Indexes: eventLogs_by_oldestTime, eventLogs_by_streamedEvents. */
async function* findLogs(
  { eventLogs }: FormsCollections,
  { before, maxEvents, youngest }: Retention,
  limit: number,
): AsyncGenerator<EventLogDocument> {
  yield* eventLogs.find({ oldestTime: { $lt: before } }, { sort: { oldestTime: 1 } })
  if (maxEvents === Number.POSITIVE_INFINITY) return
  const long = { streamedEvents: { $gt: maxEvents }, oldestTime: { $lt: youngest } }
  yield* eventLogs.find(long, { sort: { streamedEvents: -1 }, limit })
}

/** Deletes events from the start of a log up to the first one that has to stay. Index: events_by_position. */
const pruneLog = async (
  collections: FormsCollections,
  { organizationId, streamedSequence }: EventLogDocument,
  rule: Retention,
  limit: number,
): Promise<number> => {
  const { events, eventLogs } = collections
  const newest = await lastNumbered(collections, organizationId)
  if (!newest) return 0
  const lastSequence = newest.position as number
  const query = { organizationId, position: { $gt: 0 } }
  const options = { sort: { position: 1 }, limit: limit + 1, fields: ['position', 'time'] } as const
  const oldest = (await events.findDurable(query, options)).map(({ position, time }) => ({
    sequence: position as number,
    time,
  }))
  const hasToStay = oldest.findIndex(
    (event, index) =>
      index === limit ||
      event.sequence > Math.min(streamedSequence, lastSequence - 1) ||
      !mayGo(event, streamedSequence, rule),
  )
  // The newest event is always found, or one after `limit`.
  const { sequence, time } = oldest[hasToStay]!
  const upTo = { $gt: 0, $lt: sequence }
  const pruned = hasToStay === 0 ? 0 : await events.deleteMany({ organizationId, position: upTo })
  const prunedSequence = sequence - 1
  const streamedEvents = { $subtract: ['$streamedSequence', prunedSequence] }
  const updateOf = (oldestTime: object) => [{ $set: { prunedSequence, streamedEvents } }, oldestTime]
  // A newer event that is announced meanwhile makes this one prunable again: then `announce` has seen the field.
  if (sequence === lastSequence) {
    const isOnlyNewest = { _id: organizationId, announcedSequence: lastSequence }
    await eventLogs.update(isOnlyNewest, updateOf({ $unset: 'oldestTime' }))
  } else await eventLogs.update({ _id: organizationId }, updateOf({ $set: { oldestTime: time } }))
  return pruned
}
