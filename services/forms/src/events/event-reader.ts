import { setImmediate } from 'node:timers/promises'
import type { FormEvent } from '@fms/contracts'
import type { EventLog, EventsQuery } from '@fms/forms-store'
import { FairQueue, type Flow } from '@fms/scheduling'

/** Maximum number of events in one read of the store. Reading and parsing them takes about 2 ms. */
export const maxChunk = 250

/** Chunks that are read at once: on SQLite they block the event loop for up to 2 ms each, on MongoDB they only wait. */
const limits = { seats: 8, perOrganization: 2, perUser: 1 }

/** Reads events in small chunks, in turn over organizations and users: no scan of a long log delays others for long. */
export class EventReader {
  readonly #events: EventLog
  readonly #queue = new FairQueue(limits)

  constructor(events: EventLog) {
    this.#events = events
  }

  read(query: EventsQuery, flow: Flow): Promise<FormEvent[]> {
    return this.#queue.run(flow, async () => {
      await setImmediate()
      return this.#events.read(query)
    })
  }
}
