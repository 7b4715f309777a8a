import { randomUUID } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  clockInboxOf,
  deadlineHeader,
  Form,
  FormDraft,
  FormPublished,
  GatewayClock,
  type Problem,
  PublishForm,
  replyInboxHeader,
} from '@fms/contracts'
import {
  type FormMetadata,
  type FormsStore,
  openFormsStore,
  type StoredForm,
  toStoredDraft,
} from '@fms/forms-store'
import { type App, connectNats } from '@fms/service-kit'
import { type NatsServer, startNatsServer } from '@fms/testkit/nats-server'
import { type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream'
import { createInbox, headers, type NatsConnection, nuid } from 'nats'
import { pino } from 'pino'
import { createPublisherApp } from './app.ts'
import type { EventsConfig } from './config.ts'
import { DraftChecks } from './draft-checks.ts'

export const testBaseUrl = 'https://forms.example/f'

/** Checks of small drafts, which need no thread. */
export const testChecks = new DraftChecks()

export const testEventsConfig: EventsConfig = {
  EVENTS_STREAM_DAYS: 7,
  EVENTS_STREAM_BYTES: 2 ** 26,
  EVENTS_STREAM_PER_TYPE: 10_000,
  EVENTS_RETENTION_DAYS: 400,
  MAX_EVENTS_PER_ORGANIZATION: 1_000_000,
}

export const question = { type: 'text', key: 'q' }

/** A publishable draft with one question, with `fields` replaced. */
export const draftOf = (fields: object = {}): FormDraft => ({
  ...FormDraft.parse({ steps: [question] }),
  ...fields,
})

export const givenForm = async (
  forms: FormsStore,
  { draft, ...fields }: Partial<FormMetadata> & { draft?: FormDraft } = {},
): Promise<StoredForm> => {
  const form: StoredForm = {
    organizationId: randomUUID(),
    formId: randomUUID(),
    publicId: randomUUID().replaceAll('-', '').slice(0, 10),
    createTime: new Date('2026-11-20T09:30:00.000Z'),
    updateTime: new Date('2026-11-20T09:30:00.000Z'),
    version: 1,
    replyCount: 0,
    live: false,
    ...toStoredDraft(draft ?? draftOf()),
    ...fields,
  }
  await forms.create(form)
  return form
}

/** The publish command that the gateway sends for a form, with `fields` replaced. */
export const commandFor = (
  { organizationId, formId }: Pick<StoredForm, 'organizationId' | 'formId'>,
  fields: Partial<PublishForm> = {},
): PublishForm => ({
  commandId: randomUUID(),
  organizationId,
  formRef: formId,
  userId: randomUUID(),
  key: { id: randomUUID(), prefix: 'abcd1234' },
  validateOnly: false,
  ...fields,
})

/** The numbers of a form's revisions, newest first, and the number of the live one. */
export const revisionsOf = async (
  forms: FormsStore,
  { organizationId, formId }: Pick<StoredForm, 'organizationId' | 'formId'>,
) => {
  const page = await forms.listRevisions({ organizationId, formRef: formId, limit: 1000, skip: 0 })
  const revisions = page?.revisions ?? []
  return {
    numbers: revisions.map(({ revision }) => revision.number),
    live: revisions.filter(({ live }) => live).map(({ revision }) => revision.number),
  }
}

export interface StoreCall {
  method: string
  args: unknown[]
  /** Runs the original method. */
  proceed: () => Promise<unknown>
}

/** Wraps a store: `around` decides what each call does, except for those of `events` and `revisionGrowth`. */
export const intercept = (forms: FormsStore, around: (call: StoreCall) => Promise<unknown>): FormsStore =>
  new Proxy(forms, {
    get(_, name) {
      if (name === 'events' || name === 'revisionGrowth') return forms[name]
      const method = forms[name as keyof FormsStore] as (...args: unknown[]) => Promise<unknown>
      return (...args: unknown[]) =>
        name === 'close' || typeof name === 'symbol'
          ? method.apply(forms, args)
          : around({ method: name, args, proceed: async () => method.apply(forms, args) })
    },
  })

export interface Publisher {
  app: App
  nats: NatsConnection
  /** Its own store. */
  store: FormsStore
  /** Number of deliveries by their log message: `published`, `refused`, … */
  handled: Record<string, number>
  /** Log lines of deliveries. */
  lines: Record<string, unknown>[]
}

/** NATS with streams on disk, a SQLite forms store, a NATS client in the gateway's place, and publishers on demand. */
export interface Publishing extends AsyncDisposable {
  server: NatsServer
  forms: FormsStore
  gateway: NatsConnection
  /** JetStream with the operator's rights. */
  manager: JetStreamManager
  publisher(options?: {
    around?: (call: StoreCall) => Promise<unknown>
    /** Default: 60,000. */
    publishTimeoutMs?: number
    /** Resolves once the publisher is ready. Default: true. */
    wait?: boolean
  }): Promise<Publisher>
  /**
   * Sends a command like the gateway. Resolves once the command is stored in the stream.
   *
   * @param extraHeaders replace the usual headers; `undefined` removes one.
   * @param timeoutMs the time until its deadline; 60,000 by default.
   */
  send(
    command: PublishForm | Uint8Array,
    extraHeaders?: Record<string, string | undefined>,
    timeoutMs?: number,
  ): Promise<Sent>
  /** All replies that arrived in the gateway's inbox. */
  replies: Reply[]
  /** Resolves once the stream is empty. */
  idle(): Promise<void>
  /** Resolves with the first dead letter. */
  deadLetter(): Promise<{ reason: string; data: Uint8Array; header(name: string): string }>
}

export interface Sent {
  reply: Promise<Reply>
}

/** A reply with its form parsed. */
export type Reply =
  | { outcome: 'published'; form: Form; etag: string }
  | { outcome: 'refused'; problem: Problem }

export const readReply = (bytes: Uint8Array): Reply => {
  const reply = FormPublished.decode(bytes)
  if (reply.outcome === 'refused') return reply
  const { formJson, ...published } = reply
  return { ...published, form: Form.parse(JSON.parse(formJson)) }
}

const pollMs = 10

/** Polls until `read` returns a value other than undefined. */
export const waitFor = async <T>(read: () => Promise<T | undefined>): Promise<T> => {
  for (;;) {
    const value = await read().catch(() => undefined)
    if (value !== undefined) return value
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
}

export const isReady = async ({ app }: Publisher) =>
  (await app.inject('/readyz')).statusCode === 200 || undefined

export const startPublishing = async (): Promise<Publishing> => {
  await using cleanup = new AsyncDisposableStack()
  const folder = cleanup.use(await mkdtempDisposable(join(tmpdir(), 'publisher-')))
  const server = cleanup.use(await startNatsServer({ dataDir: folder.path }))
  const formsUrl = `sqlite:${join(folder.path, 'forms.db')}`
  const forms = cleanup.use(await openFormsStore(formsUrl))
  const gateway = await connectNats(server.urls.gateway, 'gateway')
  cleanup.defer(() => gateway.close())
  const observer = await connectNats(server.urls.operator, 'observer')
  cleanup.defer(() => observer.close())
  const manager = await jetstreamManager(observer)

  const inbox = createInbox('_INBOX.gateway')
  const waiting = new Map<string, (reply: Reply) => void>()
  const replies: Reply[] = []
  gateway.subscribe(`${inbox}.*`, {
    callback: (_, message) => {
      if (message.subject === clockInboxOf(`${inbox}.`)) {
        message.respond(GatewayClock.encode({ nowMs: performance.now() }))
        return
      }
      const reply = readReply(message.data)
      replies.push(reply)
      waiting.get(message.subject)?.(reply)
    },
  })

  const rest = cleanup.move()
  return {
    server,
    forms,
    gateway,
    manager,
    replies,

    async publisher({
      around = ({ proceed }: StoreCall) => proceed(),
      publishTimeoutMs = 60_000,
      wait = true,
    } = {}) {
      const handled: Record<string, number> = {}
      const lines: Record<string, unknown>[] = []
      const write = (text: string) => {
        const line = JSON.parse(text)
        if (!line.deliveries) return
        lines.push(line)
        handled[line.msg] = (handled[line.msg] ?? 0) + 1
      }
      const nats = await connectNats(server.urls.publisher, 'publisher')
      const changes = new EventEmitter<{ recorded: [] }>()
      const store = await openFormsStore(formsUrl, { onRecorded: () => changes.emit('recorded') })
      const app = createPublisherApp({
        logger: pino({ level: 'debug' }, { write }),
        nats,
        forms: intercept(store, around),
        eventsConfig: testEventsConfig,
        changes,
        publicFormBaseUrl: testBaseUrl,
        publishTimeoutMs,
        now: () => new Date(),
      })
      rest.defer(() => app.close())
      const publisher = { app, nats, store, handled, lines }
      if (wait) await waitFor(() => isReady(publisher))
      return publisher
    },

    async send(command, extraHeaders = {}, timeoutMs = 60_000) {
      const replyInbox = `${inbox}.${nuid.next()}`
      const reply = new Promise<Reply>((resolve) => waiting.set(replyInbox, resolve))
      const messageHeaders = headers()
      const usual = {
        [replyInboxHeader]: replyInbox,
        [deadlineHeader]: `${Math.floor(performance.now() + timeoutMs)}`,
      }
      for (const [key, value] of Object.entries({ ...usual, ...extraHeaders }))
        if (value) messageHeaders.set(key, value)
      const data = command instanceof Uint8Array ? command : PublishForm.encode(command)
      await jetstream(gateway).publish(PublishForm.subject, data, { headers: messageHeaders })
      return { reply }
    },

    idle: async () => {
      await waitFor(async () => (await manager.streams.info('PUBLISH')).state.messages === 0 || undefined)
    },

    deadLetter: async () => {
      const { header, data } = await waitFor(
        async () => (await manager.streams.getMessage('PUBLISH_DEAD', { seq: 1 })) ?? undefined,
      )
      return { reason: header.get('Dead-Letter-Reason'), data, header: (name) => header.get(name) }
    },

    [Symbol.asyncDispose]: () => rest.disposeAsync(),
  }
}
