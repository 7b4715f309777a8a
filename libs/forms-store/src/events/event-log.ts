import type { FormEvent } from '@fms/contracts'
import type { Imported } from '../forms-store.ts'

/** `from` and `to` are sequences, inclusive; by default the whole log, oldest first. */
export interface EventsQuery {
  organizationId: string
  /** A lower-case UUID. */
  formId?: string | undefined
  from?: number | undefined
  to?: number | undefined
  descending?: boolean | undefined
  limit: number
}

/** What a log contains. An empty one ranges from 1 to 0. */
export interface EventLogRange {
  oldestSequence: number
  lastSequence: number
}

/** A log with events that are not in the stream yet. */
export interface UnstreamedLog {
  organizationId: string
  /** The last sequence in the stream; 0 for none. */
  streamedSequence: number
  lastSequence: number
}

/** How far the relay is behind. */
export interface EventBacklog {
  /** Recorded events that are not in a log yet. Always 0 on SQLite. */
  pending: number
  /** Events of logs that are not in the stream yet. */
  unstreamed: number
  /** Time of the oldest of them; absent if there is none. */
  oldestTime?: Date
}

/**
 * The logs of form events, one per organization, numbered from 1 without gaps. Every change of a form records its event
 * in the same atomic step (docs/decisions/0031-number-events-later.md): after a crash, a change is visible
 * exactly if its event is in the log or will be.
 *
 * Append only, except for retention. Any number of processes may call each method concurrently.
 *
 * @throws {ApiError} STORE_UNAVAILABLE from any method when the engine is unreachable.
 */
export interface EventLog {
  /** Reads events in the order of `sequence`. Index: the key of the log, or form and sequence. */
  read(query: EventsQuery): Promise<FormEvent[]>

  /** `eventId` in any letter case. */
  get(organizationId: string, eventId: string): Promise<FormEvent | undefined>

  range(organizationId: string): Promise<EventLogRange>

  /**
   * Numbers the recorded events of at most `limit` organizations; does nothing on an engine that records events directly
   * in the log. A failure of one organization does not hold up others, and is thrown after them.
   * @returns the number of events that were tried; 0 if there were none.
   */
  sequence(limit: number): Promise<number>

  /** The logs with events that are not in the stream yet, at most `limit`, in any order. */
  findUnstreamed(limit: number): Promise<UnstreamedLog[]>

  /** 0 if `markStreamed` has noted none. */
  streamedSequence(organizationId: string): Promise<number>

  /** A lower sequence than before has no effect. */
  markStreamed(organizationId: string, sequence: number): Promise<void>

  /**
   * Deletes at most `limit` streamed events, from the start of each log: those older than `before`, and those beyond the
   * newest `maxEvents` (0, the default, for no bound) that are older than a day. Keeps the newest event of each
   * organization, which has the last sequence. A request is remembered as long as its event.
   * @returns the number of deleted events; 0 if there are no more.
   */
  prune(before: Date, limit: number, maxEvents?: number): Promise<number>

  /** For metrics: reads a bounded number of logs and events, so that the counts are lower bounds. */
  backlog(): Promise<EventBacklog>

  /** Ordered by the organization's id. */
  logs(): AsyncIterable<UnstreamedLog>

  /**
   * Stores an event of another store's log at its position, for copies between stores. The caller imports the events of
   * an organization one after another in the order of `sequence`, before anything else records events of it. The first
   * event of an empty log may have any position: the other store no longer has those before, which were in the stream.
   *
   * @returns `exists` when the log has the same event at this position.
   * @throws {ApiError} EVENT_CONFLICT when the log has another event at this position, or does not end right before it.
   */
  importEvent(event: FormEvent): Promise<Imported>
}
