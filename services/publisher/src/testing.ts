import { randomUUID } from 'node:crypto'
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
  type FormState,
  type FormsStore,
  openFormsStore,
  type StoredForm,
  toStoredDraft,
} from '@fms/forms-store'
import { type App, connectNats } from '@fms/service-kit'
import { type NatsServer, startNatsServer } from '@fms/testkit/nats-server'
import { createInbox, headers, type JetStreamManager, type NatsConnection, nuid } from 'nats'
import { pino } from 'pino'
import { createPublisherApp } from './app.ts'

export const testBaseUrl = 'https://forms.example/f'

export const question = { type: 'text', key: 'q' }

/** A draft with one question, which can be published, unless `fields` say otherwise. */
export const draftOf = (fields: object = {}): FormDraft => ({
  ...FormDraft.parse({ steps: [question] }),
  ...fields,
})

export const givenForm = async (
  forms: FormsStore,
  { draft, ...fields }: Partial<FormState> & { draft?: FormDraft } = {},
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

/** What the gateway would send for a form, in time. */
export const commandFor = (
  { organizationId, formId }: Pick<StoredForm, 'organizationId' | 'formId'>,
  fields: Partial<PublishForm> = {},
): PublishForm => ({
  commandId: randomUUID(),
  organizationId,
  formRef: formId,
  userId: randomUUID(),
  validateOnly: false,
  timeoutMs: 60_000,
  ...fields,
})

/** The numbers of a form's revisions, newest first, and which of them is live. */
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
  /** Does what was asked for. */
  proceed: () => Promise<unknown>
}

/** A store that lets `around` have its way with each call. */
export const intercept = (forms: FormsStore, around: (call: StoreCall) => Promise<unknown>): FormsStore =>
  new Proxy(forms, {
    get(_, name) {
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
  /** How many deliveries it has come to an end with, by what it logged of them: `published`, `refused`, ... */
  handled: Record<string, number>
  /** What it logged of deliveries. */
  lines: Record<string, unknown>[]
}

/** NATS with its streams on disk, a forms store in a file, the gateway's end of both, and publishers as a test wants. */
export interface Publishing extends AsyncDisposable {
  server: NatsServer
  dataDir: string
  forms: FormsStore
  gateway: NatsConnection
  /** As the operator, who may ask everything of JetStream. */
  manager: JetStreamManager
  publisher(options?: {
    around?: (call: StoreCall) => Promise<unknown>
    /** Default: 60,000. */
    publishTimeoutMs?: number
    /** Default: wait until it takes commands. */
    wait?: boolean
  }): Promise<Publisher>
  /**
   * Sends a command as the gateway does, `timeoutMs` before its deadline, with `about` as further headers; one that is
   * `undefined` is left out. Resolves once it lies in the stream.
   */
  send(command: PublishForm | Uint8Array, about?: Record<string, string | undefined>): Promise<Sent>
  /** Everything that came to the gateway's inbox. */
  replies: Reply[]
  /** Resolves once no command is left in the stream. */
  idle(): Promise<void>
  /** The first dead letter, as soon as there is one. */
  deadLetter(): Promise<{ reason: string; data: Uint8Array; header(name: string): string }>
}

export interface Sent {
  reply: Promise<Reply>
}

/** What a reply says, with the form that its JSON is. */
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

/** Asks until the answer is no longer undefined. */
export const until = async <T>(ask: () => Promise<T | undefined>): Promise<T> => {
  for (;;) {
    const answer = await ask().catch(() => undefined)
    if (answer !== undefined) return answer
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
  const manager = await observer.jetstreamManager()

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
    dataDir: folder.path,
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
      const app = createPublisherApp({
        logger: pino({ level: 'info' }, { write }),
        nats,
        forms: intercept(await openFormsStore(formsUrl), around),
        publicFormBaseUrl: testBaseUrl,
        publishTimeoutMs,
        now: () => new Date(),
      })
      rest.defer(() => app.close())
      const publisher = { app, nats, handled, lines }
      if (wait) await until(() => isReady(publisher))
      return publisher
    },

    async send(command, about = {}) {
      const replyInbox = `${inbox}.${nuid.next()}`
      const reply = new Promise<Reply>((resolve) => waiting.set(replyInbox, resolve))
      const notes = headers()
      const timeoutMs = command instanceof Uint8Array ? 60_000 : command.timeoutMs
      const usual = {
        [replyInboxHeader]: replyInbox,
        [deadlineHeader]: `${Math.floor(performance.now() + timeoutMs)}`,
      }
      for (const [key, value] of Object.entries({ ...usual, ...about })) if (value) notes.set(key, value)
      const data = command instanceof Uint8Array ? command : PublishForm.encode(command)
      await gateway.jetstream().publish(PublishForm.subject, data, { headers: notes })
      return { reply }
    },

    idle: async () => {
      await until(async () => (await manager.streams.info('PUBLISH')).state.messages === 0 || undefined)
    },

    deadLetter: async () => {
      const { header, data } = await until(() => manager.streams.getMessage('PUBLISH_DEAD', { seq: 1 }))
      return { reason: header.get('Dead-Letter-Reason'), data, header: (name) => header.get(name) }
    },

    [Symbol.asyncDispose]: () => rest.disposeAsync(),
  }
}
