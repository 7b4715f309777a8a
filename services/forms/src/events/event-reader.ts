import { setImmediate } from 'node:timers/promises'
import type { FormEvent } from '@fms/contracts'
import type { EventLog, EventsQuery } from '@fms/forms-store'
import { FairQueue } from '../fair-queue.ts'

/** Maximum number of events in one read of the store. Reading and parsing them takes about 2 ms. */
export const maxChunk = 250

/** Chunks of one caller that wait: one for each of its requests in flight and streams. */
const maxWaitingPerCaller = 1_000
const maxWaiting = 10_000

/**
 * Reads events in chunks, one at a time and round-robin among callers. Other requests are served between two chunks, so
 * no scan of a long log delays them by more than a chunk.
 */
export class EventReader {
  readonly #events: EventLog
  readonly #queue = new FairQueue({ concurrency: 1, maxPerKey: maxWaitingPerCaller, maxTasks: maxWaiting })

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
