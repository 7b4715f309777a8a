import { setImmediate } from 'node:timers/promises'
import type { FormEvent } from '@fms/contracts'
import type { EventLog, EventsQuery } from '@fms/forms-store'
import { FairQueue } from '@fms/service-kit'

/** Maximum number of events in one read of the store. Reading and parsing them takes about 2 ms. */
export const maxChunk = 250

/** Chunks of one caller that wait: one for each of its requests in flight and streams. */
const maxWaitingPerCaller = 1_000
const maxWaiting = 10_000

/** Chunks that are read at once: on SQLite they block the event loop for up to 2 ms each, on MongoDB they only wait. */
const concurrency = 8

/**
 * Reads events in chunks, a few at once and round-robin among callers. Other requests are served between them, so no scan
 * of a long log delays them for long.
 */
export class EventReader {
  readonly #events: EventLog
  readonly #queue = new FairQueue({ concurrency, maxPerKey: maxWaitingPerCaller, maxTasks: maxWaiting })

  constructor(events: EventLog) {
    this.#events = events
  }

  /** Reads one chunk. @throws {ApiError} OVERLOADED when too many chunks wait. */
  read(query: EventsQuery, caller: string): Promise<FormEvent[]> {
    return this.#queue.run(caller, async () => {
      await setImmediate()
      return this.#events.read(query)
    })
  }
}
