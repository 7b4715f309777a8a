import { randomInt } from 'node:crypto'
import { type Growth, growthOf } from '../../changes/change.ts'
import type { EventDocument, EventLogDocument, FormsCollections } from '../documents.ts'

const maxBatch = 200

/** Rounds of one organization in one call, so that the others get their turn. */
const maxRounds = 5

const maxConcurrent = 16

/** See `EventLog.sequence`. Organizations do not wait for each other's failures. */
export const numberEvents = async (collections: FormsCollections, limit: number): Promise<number> => {
  const pending = await collections.events.distinct('pendingIn', { pendingIn: { $gt: '' } })
  // From anywhere: each organization gets its turn, and relays begin with different ones.
  const first = randomInt(pending.length + 1)
  const waiting = [...pending.slice(first), ...pending.slice(0, first)].slice(0, limit)
  let [count, failure]: [number, unknown] = [0, undefined]
  const work = async () => {
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      try {
        count += await numberOrganization(collections, next)
      } catch (error) {
        failure ??= error
      }
    }
  }
  await Promise.all(Array.from({ length: maxConcurrent }, work))
  if (failure) throw failure
  return count
}

/** @returns how many events it has tried to number. */
export const numberOrganization = async (
  collections: FormsCollections,
  organizationId: string,
): Promise<number> => {
  let count = 0
  for (let round = 0; round < maxRounds; round++) {
    const tried = await numberBatch(collections, organizationId)
    count += tried
    if (tried === 0) break
  }
  return count
}

/** Numbers the oldest pending events without a transaction, as docs/decisions/0031-number-events-later.md explains. */
const numberBatch = async (collections: FormsCollections, organizationId: string): Promise<number> => {
  const { events } = collections
  // In one snapshot: whatever is numbered after it has a higher sequence. Two reads might meet two primaries, of which
  // the second one does not know yet what a majority has.
  const found = (await events.aggregateSnapshot([
    { $match: { organizationId, position: { $gt: 0 } } },
    { $sort: { position: -1 } },
    { $limit: 1 },
    { $project: { position: 1, time: 1, total: 1 } },
    {
      $unionWith: {
        coll: 'events',
        pipeline: [
          { $match: { pendingIn: organizationId, organizationId } },
          { $sort: { pendingTime: 1 } },
          { $limit: maxBatch },
          { $project: { pendingTime: 1, time: 1, growth: 1 } },
        ],
      },
    },
  ])) as EventDocument[]
  const last = found.find(({ pendingTime }) => pendingTime === undefined)
  const pending = found.filter((event) => event !== last).sort((a, b) => a.pendingTime! - b.pendingTime!)
  if (pending.length === 0) return 0
  const lastSequence = last ? (last.position as number) : 0
  let total = last?.total ?? growthOf({})
  const updates = pending.map(({ _id, growth }, index) => {
    total = addGrowths(total, growth)
    const by = {
      $set: { position: lastSequence + index + 1, total },
      $unset: { pendingIn: '', pendingTime: '' },
    }
    return [{ _id, organizationId, pendingIn: organizationId }, by] as const
  })
  await announce(collections, organizationId, {
    sequence: lastSequence + pending.length,
    oldestTime: last?.time ?? pending[0]!.time,
    total,
  })
  // The unique index ends the list where another relay has taken the number. The next round does the rest.
  await events.updateInOrder(updates)
  return pending.length
}

export const addGrowths = (a: Growth, b: Growth): Growth => ({
  forms: a.forms + b.forms,
  bytes: a.bytes + b.bytes,
  revisions: a.revisions + b.revisions,
  revisionBytes: a.revisionBytes + b.revisionBytes,
  eventBytes: a.eventBytes + b.eventBytes,
})

/** The newest numbered event. Index: events_by_position. */
export const lastNumbered = async (
  { events }: FormsCollections,
  organizationId: string,
): Promise<EventDocument | undefined> => {
  const query = { organizationId, position: { $gt: 0 } }
  const options = { sort: { position: -1 }, limit: 1, fields: ['position', 'time', 'total'] } as const
  return (await events.findDurable(query, options)).at(0)
}

/**
 * Records, before events get their sequences, that the stream lacks them: if the relay is killed, the next finds the log.
 * @param sequence the last one that is assigned. `streamedSequence` is for a new log, `oldestTime` for one with at most
 *   one event so far.
 */
export const announce = async (
  { eventLogs }: FormsCollections,
  organizationId: string,
  {
    sequence,
    oldestTime,
    total,
    streamedSequence = 0,
  }: { sequence: number; oldestTime: number; total: Growth; streamedSequence?: number },
): Promise<void> => {
  const { revisions, revisionBytes } = total
  const by = {
    $max: { announcedSequence: sequence, revisions, revisionBytes },
    $set: { isBehind: true },
    $setOnInsert: { organizationId, streamedSequence, prunedSequence: streamedSequence, oldestTime },
  }
  let log: EventLogDocument | undefined
  do log = await eventLogs.updateAndGet({ _id: organizationId }, by)
  while (!log)
  if (log.oldestTime !== undefined) return
  // Retention had left only the newest event.
  await eventLogs.set({ _id: organizationId, oldestTime: null }, { oldestTime })
}
