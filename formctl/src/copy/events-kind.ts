import { type FormEvent, parseSequence } from '@fms/contracts'
import {
  type EventLog,
  type FormsStore,
  formsStoreExists,
  migrateFormsStore,
  openFormsStore,
  type UnstreamedLog,
} from '@fms/forms-store'
import { collectEvents, readEvents } from '../events/event-log.ts'
import { commandTimeoutMs } from '../stores/open-stores.ts'
import type { StoreKind } from './store-kinds.ts'

interface LoggedEvent {
  event: FormEvent
  /** Whether the stream has this event, and no later one. */
  isLastStreamed: boolean
}

/** The events of one log, in the order of `sequence`. */
async function* eventsOf(events: EventLog, log: UnstreamedLog): AsyncGenerator<LoggedEvent> {
  const { organizationId, streamedSequence } = log
  const { oldestSequence } = await events.range(organizationId)
  for await (const event of readEvents(events, organizationId, oldestSequence)) {
    yield { event, isLastStreamed: parseSequence(event.sequence) === streamedSequence }
  }
}

async function* groupsOf({ events }: FormsStore): AsyncGenerator<AsyncGenerator<LoggedEvent>> {
  for await (const log of events.logs()) yield eventsOf(events, log)
}

const countEvents = async ({ events }: FormsStore): Promise<number> => {
  let total = 0
  for await (const { organizationId } of events.logs()) {
    const { oldestSequence, lastSequence } = await events.range(organizationId)
    total += lastSequence - oldestSequence + 1
  }
  return total
}

const organizationOf = ({ source }: FormEvent): string => source.slice(source.lastIndexOf('/') + 1)

/** Opening it moves pending events to the logs, also in a source on MongoDB. On SQLite, no events are pending. */
export const eventsKind: StoreKind<LoggedEvent> = {
  name: 'events',
  store: 'forms',
  exists: formsStoreExists,
  migrate: migrateFormsStore,
  open: async (url, readOnly) => {
    await using cleanup = new AsyncDisposableStack()
    const store = cleanup.use(
      await openFormsStore(url, { readOnly, clears: false, timeoutMs: commandTimeoutMs }),
    )
    await collectEvents(store.events)
    cleanup.move()
    return {
      groups: () => groupsOf(store),
      count: () => countEvents(store),
      importRecord: async ({ event, isLastStreamed }) => {
        const outcome = await store.events.importEvent(event)
        if (isLastStreamed) {
          await store.events.markStreamed(organizationOf(event), parseSequence(event.sequence))
        }
        return outcome
      },
      [Symbol.asyncDispose]: () => store.close(),
    }
  },
  sortKeyOf: ({ event }) => `${organizationOf(event)}/${event.sequence}`,
  nameOf: ({ event }) => `event ${event.sequence} of organizations/${organizationOf(event)}`,
  tallyOf: () => ({ events: 1 }),
}
