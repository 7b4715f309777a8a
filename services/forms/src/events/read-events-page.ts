import type { CheckedFilter } from '@fms/aip'
import { type FormEvent, parseSequence } from '@fms/contracts'
import {
  assertReached,
  type EventLog,
  type EventLogRange,
  matchesEvent,
  requiredForm,
} from '@fms/forms-store'
import type { Flow } from '@fms/scheduling'
import { type EventReader, maxChunk } from './event-reader.ts'
import { assertNotPruned, eventsPruned } from './log-range.ts'

/** Maximum number of events that a page looks at. A page with a filter may end before it is full (AIP-158). */
const maxLookedAt = 2_000

export interface EventsPageQuery {
  organizationId: string
  filter?: CheckedFilter | undefined
  descending: boolean
  /** Only events after this sequence. Default: all events that are there. */
  afterSequence?: number | undefined
  /** Where the previous page ended. */
  after?: EventPosition | undefined
  limit: number
  skip: number
}

/** The end of a page. */
export interface EventPosition {
  /** The last sequence that the page looked at. */
  sequence: number
  /** Matching events that the next page has still to skip. */
  skip: number
}

export interface EventsPage {
  events: FormEvent[]
  /** Where the next page continues; undefined at the end of the log. */
  next?: EventPosition
  range: EventLogRange
}

/** Reads a page up to its `lastSequence`. @throws {ApiError} EVENTS_PRUNED; AFTER_LAST_EVENT for a log from a backup. */
export const readEventsPage = async (
  log: EventLog,
  reader: EventReader,
  query: EventsPageQuery,
  flow: Flow,
): Promise<EventsPage> => {
  const { organizationId } = query
  const range = await log.range(organizationId)
  const rest = restOf(query, range)
  const first = rest.from
  const page = await scan(reader, query, rest, flow)
  // Retention may have removed events between the two reads.
  const rangeAfter = await log.range(organizationId)
  if (query.descending || rangeAfter.oldestSequence <= first) return { ...page, range }
  if (hasStart(query)) throw eventsPruned(rangeAfter)
  return readEventsPage(log, reader, query, flow)
}

const hasStart = ({ afterSequence, after }: EventsPageQuery) =>
  afterSequence !== undefined || after !== undefined

/** The part of the log that a page has not looked at yet. */
class Rest {
  from: number
  to: number
  readonly descending: boolean

  /** @param from the first sequence. @param to the last sequence. */
  constructor(from: number, to: number, descending: boolean) {
    this.from = from
    this.to = to
    this.descending = descending
  }

  get isEmpty(): boolean {
    return this.from > this.to
  }

  /** The sequence before the rest, in the direction of the list. */
  get end(): number {
    return this.descending ? this.to + 1 : this.from - 1
  }

  moveTo(end: number): void {
    if (this.descending) this.to = end - 1
    else this.from = end + 1
  }
}

const restOf = ({ afterSequence, after, descending }: EventsPageQuery, range: EventLogRange): Rest => {
  const { oldestSequence, lastSequence } = range
  const start = afterSequence ?? oldestSequence - 1
  assertReached(Math.max(afterSequence ?? 0, after?.sequence ?? 0), range)
  if (!descending) {
    assertNotPruned(after?.sequence ?? start, range)
    return new Rest((after?.sequence ?? start) + 1, lastSequence, descending)
  }
  assertNotPruned(start, range)
  if (!after) return new Rest(start + 1, lastSequence, descending)
  const to = after.sequence - 1
  assertNotPruned(to - 1, range)
  return new Rest(start + 1, to, descending)
}

/** Reads matching events. Looks for one more than the page has, to know whether another page follows. */
const scan = async (
  reader: EventReader,
  { organizationId, filter, after, limit, skip }: EventsPageQuery,
  rest: Rest,
  flow: Flow,
): Promise<Omit<EventsPage, 'range'>> => {
  const formId = requiredForm(filter)
  const events: FormEvent[] = []
  let toSkip = skip + (after?.skip ?? 0)
  // A log without a filter has no gaps, so the skipped events need not be read.
  if (!filter) {
    rest.moveTo(rest.descending ? rest.end - toSkip : rest.end + toSkip)
    toSkip = 0
  }
  for (let lookedAt = 0; !rest.isEmpty; ) {
    if (lookedAt >= maxLookedAt) return { events, next: { sequence: rest.end, skip: toSkip } }
    const size = filter ? maxChunk : Math.min(maxChunk, limit + 1 - events.length)
    const { from, to, descending } = rest
    const chunk = await reader.read({ organizationId, formId, from, to, descending, limit: size }, flow)
    for (const event of chunk) {
      if (matchesEvent(filter, event)) {
        if (toSkip > 0) toSkip--
        else if (events.length < limit) events.push(event)
        else return { events, next: { sequence: rest.end, skip: 0 } }
      }
      rest.moveTo(parseSequence(event.sequence))
    }
    if (chunk.length < size) break
    lookedAt += chunk.length
  }
  return { events }
}
