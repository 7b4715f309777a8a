import type { FormEvent } from '@fms/contracts'

/** Which events of an organization's log to read. */
export interface EventsQuery {
  organizationId: string
  /** Only the events of this form. A lower-case UUID. */
  formId?: string | undefined
  /** The first sequence that may be read. Default: 1. */
  from?: number | undefined
  /** The last sequence that may be read. Default: no limit. */
  to?: number | undefined
  /** Newest first instead of oldest first. */
  descending?: boolean | undefined
  /** Maximum number of events. The caller bounds it. */
  limit: number
}

/** What a log contains. Both are 0 for an organization without events. */
export interface EventLogRange {
  /** The sequence of the oldest event that retention has not removed. */
  oldestSequence: number
  /** The sequence of the newest event. */
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

/** Outcome of the import of an event: `exists` when the log has the same event at this position. */
export type ImportedEvent = 'imported' | 'exists'

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

  /** Reads one event by its id, a UUID in any letter case. */
  get(organizationId: string, eventId: string): Promise<FormEvent | undefined>

  /** The first and the last sequence of a log. */
  range(organizationId: string): Promise<EventLogRange>

  /**
   * Gives recorded events their sequences, in which they are in the log: those of at most `limit` organizations. An engine that
   * records events directly in the log does nothing. A failure of one organization does not hold up others.
   *
   * @returns the number of events that were tried; 0 if there were none.
   * @throws the error of an organization, after the others.
   */
  sequence(limit: number): Promise<number>

  /** The logs with events that are not in the stream yet, at most `limit`, in any order. */
  findUnstreamed(limit: number): Promise<UnstreamedLog[]>

  /** @returns the last sequence of a log that `markStreamed` has noted; 0 for none. */
  streamedSequence(organizationId: string): Promise<number>

  /** Notes that all events of a log up to `sequence` are in the stream. A lower sequence than before has no effect. */
  markStreamed(organizationId: string, sequence: number): Promise<void>

  /**
   * Deletes at most `limit` events that are in the stream, from the start of each log: those older than `before`, and those
   * beyond the newest `maxEvents` that are older than ten minutes. Keeps the newest event of each organization, which has
   * the last sequence. A request is remembered as long as its event.
   *
   * @param maxEvents 0, the default, for no bound.
   * @returns the number of deleted events; 0 if there are no more.
   */
  prune(before: Date, limit: number, maxEvents?: number): Promise<number>

  /**
   * How far the relay is behind. For metrics: reads a bounded number of logs and forms, so that the counts are lower bounds,
   * and may miss concurrent changes.
   */
  backlog(): Promise<EventBacklog>

  /** The organizations that have events, ordered by id, with the sequence up to which their log is in the stream. */
  logs(): AsyncIterable<UnstreamedLog>

  /**
   * Stores an event of another store's log at its position, for copies between stores. The caller imports the events of
   * an organization one after another in the order of `sequence`, before anything else records events of it. The first
   * event of an empty log may have any position: the other store no longer has those before, which were in the stream.
   *
   * @throws {ApiError} EVENT_CONFLICT when the log has another event at this position, or does not end right before it.
   */
  importEvent(event: FormEvent): Promise<ImportedEvent>
}
