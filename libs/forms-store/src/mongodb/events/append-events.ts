import type {
  EventDocument,
  EventLogDocument,
  FormsCollections,
  Incarnation,
  PendingEvent,
} from '../documents.ts'

/** An event that is to be in the log of its organization, with the incarnation of its form. */
export type IncarnationEvent = Incarnation & PendingEvent

/** Maximum number of events that one request inserts, so that slow engines finish within the timeout. */
const maxBatch = 100

/**
 * Failures in a row after which the remaining events wait for the next collection. A failure means that another process
 * has taken the sequence, or that the log has one of the events already.
 */
const maxFailures = 50

/**
 * Appends events to the log of an organization, each with the sequence after the highest one. Skips those that the log
 * has. Any number of processes may do this at the same time: unique indexes reject a sequence that is taken, and an event
 * that is in the log. After a rejection, looks the events up by their ids and, since each note of a delete has its own id
 * for the same event, by number.
 *
 * Finally notes in the document of the log that the stream may lack events.
 *
 * @param events of one organization, those of each form in order.
 * @returns the ids of those that are in the log now. Some are missing if other processes append at the same time.
 */
export const appendEvents = async (
  collections: FormsCollections,
  organizationId: string,
  events: readonly IncarnationEvent[],
): Promise<Set<string>> => {
  const [log] = await collections.eventLogs.findDurable({ _id: organizationId, organizationId })
  const ids = new Set<string>()
  let last = log?.recordedSequence ?? 0
  let [rest, isAlone, failures] = [[...events], false, 0]
  while (rest.length > 0 && failures < maxFailures) {
    const batch = rest.slice(0, isAlone ? 1 : maxBatch)
    const first = last + 1
    if (await insertFrom(collections, first, batch)) {
      for (const { id } of batch) ids.add(id)
      rest = rest.slice(batch.length)
      last += batch.length
      ;[isAlone, failures] = [false, 0]
      continue
    }
    const found = await findInLog(collections, organizationId, batch)
    for (const id of found) ids.add(id)
    rest = rest.filter(({ id }) => !ids.has(id))
    last = await highestSequence(collections, organizationId, last)
    // The engine does not say which event it has rejected. The next attempt inserts one alone, which is found by number.
    isAlone = found.length === 0
    failures++
  }
  if (ids.size > 0) await noteRecorded(collections, organizationId, log, last, events[0]!.time)
  return ids
}

/** The `_id` of an event. Logs of different organizations may have events with the same id. */
export const eventKey = (organizationId: string, id: string): string => `${organizationId}/${id}`

/** @returns false when a sequence is taken, or the log has one of the events. */
const insertFrom = (
  { events }: FormsCollections,
  first: number,
  batch: readonly IncarnationEvent[],
): Promise<boolean> =>
  events.insertInOrder(
    batch.map(({ id, ...event }, index): EventDocument => {
      return { _id: eventKey(event.organizationId, id), ...event, sequence: first + index }
    }),
  )

/**
 * The ids of those events that the log has. A single event is also looked up by its number. Indexes: that of `_id`,
 * events_by_number.
 */
const findInLog = async (
  { events }: FormsCollections,
  organizationId: string,
  some: readonly IncarnationEvent[],
): Promise<string[]> => {
  const byId = { organizationId, _id: { $in: some.map(({ id }) => eventKey(organizationId, id)) } }
  const found = new Set((await events.findDurable(byId, { fields: ['_id'] })).map(({ _id }) => _id))
  const ids = some.map(({ id }) => id).filter((id) => found.has(eventKey(organizationId, id)))
  const [only] = some
  if (ids.length > 0 || !only || some.length > 1) return ids
  const { formId, incarnation, number } = only
  const same = await events.findDurable({ organizationId, formId, incarnation, number }, { fields: ['_id'] })
  return same.length > 0 ? [only.id] : []
}

/** The highest sequence in the log. Index: events_by_sequence. @param known a sequence that the log has had, or 0. */
export const highestSequence = async (
  { events }: FormsCollections,
  organizationId: string,
  known: number,
): Promise<number> => {
  const query = { organizationId, sequence: { $gt: known } }
  const [last] = await events.findDurable(query, { sort: { sequence: -1 }, limit: 1, fields: ['sequence'] })
  return last?.sequence ?? known
}

/** Notes that the log has all events up to a sequence. Creates the document of a log with its first events. */
export const noteRecorded = async (
  { eventLogs }: FormsCollections,
  organizationId: string,
  log: EventLogDocument | undefined,
  recordedSequence: number,
  oldestTime: number,
  oldestSequence = 1,
): Promise<void> => {
  if (log && log.recordedSequence >= recordedSequence) return
  const newLog = {
    _id: organizationId,
    organizationId,
    oldestSequence,
    oldestTime,
    recordedSequence,
    streamedSequence: oldestSequence - 1,
    isBehind: true,
    isPrunable: false,
  }
  if (!log && (await eventLogs.insert(newLog))) return
  await raiseRecorded(eventLogs, organizationId, recordedSequence)
}

/** Notes in an existing log that it has all events up to a sequence, unless it has more. */
export const raiseRecorded = async (
  eventLogs: FormsCollections['eventLogs'],
  organizationId: string,
  recordedSequence: number,
): Promise<void> => {
  const lower = { _id: organizationId, organizationId, recordedSequence: { $lt: recordedSequence } }
  await eventLogs.set(lower, { recordedSequence, isBehind: true })
}
