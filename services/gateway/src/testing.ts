import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import type { AuthorizeRequest, Role } from '@fms/contracts'
import { createApp, readConfig } from '@fms/service-kit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Logger, pino } from 'pino'
import { Agent, type Dispatcher } from 'undici'
import { createGateway } from './app.ts'
import { GatewayConfig } from './config.ts'

export const secret = 'a secret of at least thirty-two bytes'

/** What a service behind the gateway got to see. */
export interface Received {
  method: string
  url: string
  headers: Record<string, string | string[] | undefined>
  body: string
}

export type Answer = (request: FastifyRequest, reply: FastifyReply) => unknown

/** A service behind the gateway: a real server that remembers its requests and answers as the test wants it. */
export const startService = async (answer: Answer, port = 0) => {
  const received: Received[] = []
  const app = createApp({ logger: pino({ level: 'silent' }) })
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('*', { parseAs: 'string' }, async (_: FastifyRequest, body: string) => body)
  app.all('/*', async (request, reply) => {
    const { method, headers, body } = request
    received.push({ method, url: request.raw.url!, headers, body: String(body ?? '') })
    return service.answer(request, reply)
  })
  await app.listen({ host: '127.0.0.1', port })
  const address = app.server.address() as AddressInfo
  const service = {
    received,
    answer,
    port: address.port,
    origin: `http://127.0.0.1:${address.port}`,
    stop: async () => {
      app.server.closeAllConnections()
      await app.close()
    },
  }
  return service
}

export interface Member {
  organizationId: string
  slug: string
  role: Role
}

/** What organizations knows; tests change it as they go. */
export class Directory {
  readonly questions: AuthorizeRequest[] = []
  readonly #users = new Map<string, { userId: string; keyId: string; readOnly: boolean; members: Member[] }>()

  /** A new key, whose user is a member of these organizations. */
  key(members: Member[], { readOnly = false } = {}): string {
    const key = `fms_${randomBytes(32).toString('base64url')}`
    this.#users.set(hashOf(key), { userId: randomUUID(), keyId: randomUUID(), readOnly, members })
    return key
  }

  /** Another key of the same user. */
  secondKey(key: string): string {
    const second = this.key([])
    this.#users.set(hashOf(second), { ...this.user(key), keyId: randomUUID() })
    return second
  }

  user(key: string) {
    return this.#users.get(hashOf(key))!
  }

  revoke(key: string): void {
    this.#users.delete(hashOf(key))
  }

  answer: Answer = ({ url, body }, reply) => {
    if (url !== '/internal/authorize') return { organizations: [] }
    const question = JSON.parse(body as string) as AuthorizeRequest
    this.questions.push(question)
    const user = this.#users.get(question.keyHash)
    if (!user) return reply.code(401).send({ error: { code: 401 } })
    const { members, ...known } = user
    const member = members.find(({ organizationId, slug }) =>
      [organizationId, slug].includes(question.organizationRef ?? ''),
    )
    const organization = member && { organizationId: member.organizationId, role: member.role }
    return { ...known, ...(organization && { organization }) }
  }
}

const hashOf = (key: string) => createHash('sha256').update(key).digest('base64url')

export interface GatewayTestOptions {
  natsUrl?: string
  publishTimeoutMs?: number
  rateLimitPerMinute?: number
  maxRequestsPerUser?: number
  maxKeyLookups?: number
  maxBufferedResponseBytes?: number
  maxRequests?: number
  trustProxy?: string
  corsOrigins?: string
  now?: () => number
  /** What organizations knows, where two gateways shall know the same keys. */
  directory?: Directory
  logger?: Logger
}

/** The gateway on a port of its own, between a client and two services that the test holds. */
export const startGateway = async ({
  natsUrl = 'nats://127.0.0.1:1',
  publishTimeoutMs = 10_000,
  rateLimitPerMinute = 0,
  maxRequestsPerUser,
  maxKeyLookups,
  maxBufferedResponseBytes,
  trustProxy,
  corsOrigins,
  maxRequests = 256,
  now,
  directory = new Directory(),
  logger = pino({ level: 'silent' }),
}: GatewayTestOptions = {}) => {
  const organizations = await startService(directory.answer)
  const forms = await startService(() => ({ from: 'forms' }))
  const config = readConfig(GatewayConfig, {
    INTERNAL_SECRET: secret,
    ORGANIZATIONS_URL: organizations.origin,
    FORMS_URL: forms.origin,
    NATS_URL: natsUrl,
    PUBLISH_TIMEOUT_MS: String(publishTimeoutMs),
    RATE_LIMIT_PER_MINUTE: String(rateLimitPerMinute),
    MAX_REQUESTS_PER_USER: textOf(maxRequestsPerUser),
    MAX_KEY_LOOKUPS: textOf(maxKeyLookups),
    MAX_BUFFERED_RESPONSE_BYTES: textOf(maxBufferedResponseBytes),
    TRUST_PROXY: trustProxy,
    CORS_ORIGINS: corsOrigins,
    MAX_REQUESTS: String(maxRequests),
  })
  const app = await createGateway(config, logger, now)
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })

  const organization: Member = { organizationId: randomUUID(), slug: 'acme', role: 'editor' }
  const key = directory.key([organization])
  const client = new Agent()

  return {
    app,
    origin,
    directory,
    organizations,
    forms,
    organization,
    key,
    /** A key of another user, who is a member of another organization called acme. */
    stranger: () => directory.key([{ ...organization, organizationId: randomUUID() }]),
    /** Sends the path as it is written, with the given key, and reads the whole answer. */
    async send(method: string, path: string, { as = key, headers = {}, body }: SendOptions = {}) {
      const answer = await client.request({
        origin,
        path,
        method: method as Dispatcher.HttpMethod,
        headers: { ...(as && { 'x-api-key': as }), ...headers },
        body: body ?? null,
      })
      const text = await answer.body.text()
      return {
        status: answer.statusCode,
        headers: answer.headers,
        text,
        json: () => JSON.parse(text),
        /** Without what differs between any two answers. */
        withoutRequestId: () => text.replaceAll(String(answer.headers['x-request-id']), ''),
      }
    },
    async [Symbol.asyncDispose]() {
      await client.destroy()
      await app.close()
      await Promise.all([organizations.stop(), forms.stop()])
    },
  }
}

const textOf = (value: number | undefined) => (value === undefined ? undefined : String(value))

export interface SendOptions {
  /** The API key; empty for none. */
  as?: string
  headers?: Record<string, string | string[]>
  body?: Dispatcher.DispatchOptions['body']
}

export const json = { 'content-type': 'application/json' }

/** The reason of an error body. */
export const reasonOf = (answer: { json(): { error: { details: { reason?: string }[] } } }) =>
  answer.json().error.details[0]?.reason

/** A logger whose lines a test can wait for. */
export const startLog = () => {
  const lines: { msg: string; circuit?: string; user?: string }[] = []
  const waiting: { text: string; found: () => void }[] = []
  const write = (line: string) => {
    const { msg, circuit, user } = JSON.parse(line)
    lines.push({ msg, circuit, user })
    for (const { text, found } of waiting) if (msg.includes(text)) found()
  }
  const line = (text: string) => new Promise<void>((found) => waiting.push({ text, found }))
  return { logger: pino({ level: 'info' }, { write }), line, lines }
}

export type Gateway = Awaited<ReturnType<typeof startGateway>>
