import { type FormEvent, parseSequence } from '@fms/contracts'
import { readInPages, recordDigest } from '@fms/store-kit'
import { growthOf } from '../../changes/change.ts'
import { eventConflict } from '../../errors.ts'
import type { EventLog, UnstreamedLog } from '../../events/event-log.ts'
import { formOfEvent, withSequence } from '../../events/recorded-event.ts'
import { retention } from '../../events/retention.ts'
import { eventKey } from '../apply-change.ts'
import type { EventDocument, EventLogDocument, FormsCollections } from '../documents.ts'
import { addGrowths, announce, lastNumbered, numberEvents } from './number-events.ts'
import { pruneEvents } from './prune-events.ts'

/** Bounds of what `backlog` counts: pending events, logs, and logs whose oldest event is read. */
const maxPending = 10_000
const maxLogs = 500
const maxOldest = 20

/** The logs of events: an event is in the log once it has a sequence. Reads have read concern `majority`. */
export const mongoEventLog = (collections: FormsCollections): EventLog => ({
  /** Indexes: events_by_position, events_by_form. */
  async read(query) {
    const { organizationId, formId, from = 1, to = Number.MAX_SAFE_INTEGER, descending, limit } = query
    if (limit <= 0) return []
    const found = await collections.events.findDurable(
      { organizationId, ...(formId !== undefined && { formId }), position: { $gte: from, $lte: to } },
      { sort: { position: descending ? -1 : 1 }, limit },
    )
    return found.map(toFormEvent)
  },

  /** Index: that of `_id`. */
  async get(organizationId, eventId) {
    const _id = eventKey(organizationId, eventId.toLowerCase())
    const query = { organizationId, _id, position: { $gt: 0 } }
    const [found] = await collections.events.findDurable(query, { limit: 1 })
    return found && toFormEvent(found)
  },

  /** Index: events_by_position. */
  async range(organizationId) {
    const query = { organizationId, position: { $gt: 0 } }
    const options = { sort: { position: 1 }, limit: 1, fields: ['position'] } as const
    // The oldest after the newest: retention never removes the newest.
    const newest = await lastNumbered(collections, organizationId)
    if (!newest) return { oldestSequence: 1, lastSequence: 0 }
    const [oldest] = await collections.events.findDurable(query, options)
    return { oldestSequence: sequenceOf(oldest), lastSequence: sequenceOf(newest) }
  },

  sequence: (limit) => numberEvents(collections, limit),

  /** Index: eventLogs_by_isBehind. */
  async findUnstreamed(limit) {
    const found = await collections.eventLogs.findDurable({ isBehind: true }, { limit })
    return found.map(toUnstreamedLog)
  },

  async streamedSequence(organizationId) {
    const [log] = await collections.eventLogs.findDurable({ _id: organizationId }, { limit: 1 })
    return log?.streamedSequence ?? 0
  },

  async markStreamed(organizationId, sequence) {
    const { eventLogs } = collections
    const earlier = { _id: organizationId, streamedSequence: { $lt: sequence } }
    const streamedEvents = { $subtract: [sequence, '$prunedSequence'] }
    const set = { $set: { streamedSequence: sequence, streamedEvents } }
    const isLast = { ...earlier, announcedSequence: { $lte: sequence } }
    if (await eventLogs.update(isLast, [set, { $unset: 'isBehind' }])) return
    await eventLogs.update(earlier, [set])
  },

  prune: (before, limit, maxEvents) => pruneEvents(collections, retention(before, maxEvents), limit),

  /** Indexes: events_by_pendingTime, eventLogs_by_isBehind, events_by_position. */
  async backlog() {
    const { events, eventLogs } = collections
    const [[pending], behind] = await Promise.all([
      events.aggregateSnapshot([
        { $match: { pendingIn: { $gt: '' } } },
        { $limit: maxPending },
        { $group: { _id: null, count: { $sum: 1 }, oldestTime: { $min: '$pendingTime' } } },
      ]),
      eventLogs.findDurable({ isBehind: true }, { limit: maxLogs }),
    ])
    const firsts = await Promise.all(
      behind.slice(0, maxOldest).map(({ organizationId, streamedSequence }) => {
        const query = { organizationId, position: streamedSequence + 1 }
        return events.findOne(query, ['time'])
      }),
    )
    const times = [pending?.oldestTime, ...firsts.map((first) => first?.time)].filter(
      (time) => time !== undefined,
    )
    return {
      pending: pending?.count ?? 0,
      unstreamed: behind.reduce((sum, log) => sum + log.announcedSequence - log.streamedSequence, 0),
      ...(times.length > 0 && { oldestTime: new Date(Math.min(...times)) }),
    }
  },

  logs() {
    const options = { sort: { _id: 1 }, limit: 500 } as const
    return readInPages((last) => {
      const found = collections.eventLogs.find({ _id: { $gt: last?.organizationId ?? '' } }, options)
      return Array.fromAsync(found, toUnstreamedLog)
    })
  },

  async importEvent(event) {
    const { events } = collections
    const form = formOfEvent(event)
    const { organizationId } = form
    const [sequence, time] = [parseSequence(event.sequence), Date.parse(event.time)]
    const last = await lastNumbered(collections, organizationId)
    const isNext = !last || sequence === sequenceOf(last) + 1
    const _id = eventKey(organizationId, event.id)
    const found = await events.findOne({ organizationId, ...(isNext ? { _id } : { position: sequence }) })
    const isSame = found && !isNext && recordDigest(toFormEvent(found)) === recordDigest(event)
    if (isNext ? found : !isSame) throw eventConflict(event)
    const growth = growthOf({}, event)
    const total = addGrowths(last?.total ?? growthOf({}), growth)
    // Also for an event that exists: the import may have been killed in between.
    await announce(collections, organizationId, {
      sequence: Math.max(sequence, sequenceOf(last)),
      oldestTime: last?.time ?? time,
      total,
      streamedSequence: sequence - 1,
    })
    if (found) return 'exists'
    const { sequence: _, ...recorded } = event
    const isInserted = await events.insert({
      ...form,
      _id,
      time,
      event: JSON.stringify(recorded),
      position: sequence,
      growth,
      total,
    })
    if (!isInserted) throw eventConflict(event)
    return 'imported'
  },
})

const sequenceOf = (event: Pick<EventDocument, 'position'> | undefined): number =>
  (event?.position as number | undefined) ?? 0

const toFormEvent = ({ event, position }: EventDocument): FormEvent =>
  withSequence(JSON.parse(event), position as number)

const toUnstreamedLog = ({
  organizationId,
  streamedSequence,
  announcedSequence,
}: EventLogDocument): UnstreamedLog => ({
  organizationId,
  streamedSequence,
  lastSequence: announcedSequence,
})
