import { randomUUID } from 'node:crypto'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FormEvent, parseSequence } from '@fms/contracts'
import {
  type EventLog,
  type FormsStore,
  openFormsStore,
  parseDraft,
  type StoredForm,
  toStoredDraft,
} from '@fms/forms-store'
import { connectNats } from '@fms/service-kit'
import { type NatsServer, startNatsServer } from '@fms/testkit/nats-server'
import { type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream'
import type { MsgHdrs } from 'nats'
import { pino } from 'pino'
import { vi } from 'vitest'
import { givenForm, testEventsConfig } from '../../testing.ts'
import { type RelayDeps, startRelay } from '../relay.ts'

/** A message of the stream EVENTS, as its readers get it. */
export interface Streamed {
  subject: string
  headers: MsgHdrs
  event: FormEvent
}

export interface TestRelay extends ReturnType<typeof startRelay> {
  /** The texts of its log lines. */
  lines: string[]
}

/** A store with changes, NATS, relays on demand, and a reader of the stream with the rights of the user `events`. */
export interface Relaying extends AsyncDisposable {
  server: NatsServer
  forms: FormsStore
  /** JetStream with the operator's rights. */
  manager: JetStreamManager
  /** Starts a relay on a store handle of its own. `events` wraps its logs. */
  relay(
    options?: { events?: (log: EventLog) => EventLog } & Partial<Omit<RelayDeps, 'events'>>,
  ): Promise<TestRelay>
  /** What the reader has received, in the order of the stream. */
  streamed: Streamed[]
  /** Starts the reader. The stream must exist. */
  read(): Promise<void>
  /** Resolves once no log has events that are not marked as streamed. */
  caughtUp(): Promise<void>
  /** Changes the name of a form, which records an event. */
  rename(form: StoredForm): Promise<void>
}

/** Long enough for a loaded machine; milliseconds. */
export const patience = { timeout: 30_000, interval: 10 }

/** @param storeUrl a migrated store. Default: a new SQLite file. */
export const startRelaying = async (storeUrl?: string): Promise<Relaying> => {
  await using cleanup = new AsyncDisposableStack()
  const folder = cleanup.use(await mkdtempDisposable(join(tmpdir(), 'relay-')))
  const server = cleanup.use(await startNatsServer({ dataDir: folder.path }))
  const url = storeUrl ?? `sqlite:${join(folder.path, 'forms.db')}`
  const forms = cleanup.use(await openFormsStore(url))
  const observer = await connectNats(server.urls.operator, 'observer')
  cleanup.defer(() => observer.close())
  const manager = await jetstreamManager(observer)
  const reader = await connectNats(server.urls.events, 'reader')
  cleanup.defer(() => reader.close())
  const streamed: Streamed[] = []
  const rest = cleanup.move()

  return {
    server,
    forms,
    manager,
    streamed,

    async relay({ events = (log: EventLog) => log, ...deps } = {}) {
      const lines: string[] = []
      const write = (line: string) => lines.push(JSON.parse(line).msg)
      const nats = await connectNats(server.urls.publisher, 'publisher')
      const store = await openFormsStore(url)
      const relay = startRelay({
        events: events(store.events),
        nats,
        logger: pino({ level: 'info' }, { write }),
        config: testEventsConfig,
        now: () => new Date(),
        ...deps,
      })
      rest.defer(async () => {
        await relay.stop()
        await nats.close()
        await store.close()
      })
      return { ...relay, lines }
    },

    async read() {
      const stream = () => manager.streams.info('EVENTS').catch(() => undefined)
      await vi.waitUntil(stream, patience)
      const { consumers } = jetstream(reader, { checkAPI: false })
      const consume = async () => (await consumers.get('EVENTS', {})).consume()
      // A server that has just started again may lose requests.
      const messages = await vi.waitUntil(() => consume().catch(() => undefined), patience)
      const sequence = async () => {
        for await (const { subject, headers, data } of messages)
          streamed.push({
            subject,
            headers: headers!,
            event: FormEvent.parse(JSON.parse(new TextDecoder().decode(data))),
          })
      }
      void sequence()
    },

    caughtUp: async () => {
      await vi.waitUntil(async () => (await forms.events.findUnstreamed(1)).length === 0, patience)
    },

    async rename(form) {
      await forms.update({ organizationId: form.organizationId, formRef: form.formId }, (current) => ({
        ...current,
        ...toStoredDraft({ ...parseDraft(current), name: `Name ${current.version + 1}` }),
        version: current.version + 1,
      }))
    },

    [Symbol.asyncDispose]: () => rest.disposeAsync(),
  }
}

/** Creates a form and records `updates` events more. */
export const givenEvents = async (
  { forms, rename }: Pick<Relaying, 'forms' | 'rename'>,
  updates: number,
  fields: Partial<StoredForm> = {},
): Promise<StoredForm> => {
  const form = await givenForm(forms, fields)
  for (let update = 0; update < updates; update++) await rename(form)
  return form
}

/** Creates forms of one organization at the same time, which is fast. @returns one of them. */
export const givenLongLog = async (
  { forms }: Pick<Relaying, 'forms'>,
  events: number,
): Promise<StoredForm> => {
  const organizationId = randomUUID()
  const created = await Promise.all(
    Array.from({ length: events }, () => givenForm(forms, { organizationId })),
  )
  return created[0]!
}

/** The sequences of an organization's events in the stream. */
export const sequencesOf = (streamed: Streamed[], { organizationId }: StoredForm): number[] =>
  streamed
    .map(({ event }) => event)
    .filter(({ source }) => source.endsWith(organizationId))
    .map(({ sequence }) => parseSequence(sequence))

export const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1)
