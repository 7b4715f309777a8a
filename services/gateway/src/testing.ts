import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import type { AuthorizeRequest, Role } from '@fms/contracts'
import { createApp, formBodyBytes, readConfig } from '@fms/service-kit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Logger, pino } from 'pino'
import { Agent, type Dispatcher } from 'undici'
import { createGateway } from './app.ts'
import { GatewayConfig } from './config.ts'

export const secret = 'a secret of at least thirty-two bytes'

/** A request that a service behind the gateway received. */
export interface ReceivedRequest {
  method: string
  url: string
  headers: Record<string, string | string[] | undefined>
  body: string
}

/** A Fastify handler: returns the response body, or sends it itself. */
export type Respond = (request: FastifyRequest, reply: FastifyReply) => unknown

/** Starts a stub of a service: an HTTP server that records requests, and responds as a test sets `respond`. */
export const startStubService = async (respond: Respond, port = 0) => {
  const received: ReceivedRequest[] = []
  const app = createApp({ logger: pino({ level: 'silent' }) })
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('*', { parseAs: 'string' }, async (_: FastifyRequest, body: string) => body)
  app.all('/*', { bodyLimit: formBodyBytes }, async (request, reply) => {
    const { method, headers, body } = request
    received.push({ method, url: request.raw.url!, headers, body: String(body ?? '') })
    return service.respond(request, reply)
  })
  await app.listen({ host: '127.0.0.1', port })
  const address = app.server.address() as AddressInfo
  const service = {
    received,
    respond,
    port: address.port,
    origin: `http://127.0.0.1:${address.port}`,
    stop: async () => {
      app.server.closeAllConnections()
      await app.close()
    },
  }
  return service
}

export interface Membership {
  organizationId: string
  slug: string
  role: Role
}

/** The users, keys and memberships of the stub of organizations, and its `respond`. */
export class Directory {
  readonly authorizeRequests: AuthorizeRequest[] = []
  readonly #users = new Map<
    string,
    { userId: string; keyId: string; keyPrefix: string; readOnly: boolean; memberships: Membership[] }
  >()

  /** Creates a user who is a member of these organizations, and returns a key of the user. */
  createKey(memberships: Membership[], { readOnly = false } = {}): string {
    const key = `fms_${randomBytes(32).toString('base64url')}`
    const owner = { userId: randomUUID(), readOnly, memberships }
    this.#users.set(hashOf(key), { ...owner, keyId: randomUUID(), keyPrefix: prefixOf(key) })
    return key
  }

  /** Creates another key of the same user. */
  createSecondKey(key: string): string {
    const second = this.createKey([])
    const ids = { keyId: randomUUID(), keyPrefix: prefixOf(second) }
    this.#users.set(hashOf(second), { ...this.userOf(key), ...ids })
    return second
  }

  userOf(key: string) {
    return this.#users.get(hashOf(key))!
  }

  /** The key as identity tokens and publish commands name it. */
  actorKeyOf(key: string) {
    const { keyId, keyPrefix } = this.userOf(key)
    return { id: keyId, prefix: keyPrefix }
  }

  revoke(key: string): void {
    this.#users.delete(hashOf(key))
  }

  respond: Respond = ({ url, body }, reply) => {
    if (url !== '/internal/authorize') return { organizations: [] }
    const request = JSON.parse(body as string) as AuthorizeRequest
    this.authorizeRequests.push(request)
    const user = this.#users.get(request.keyHash)
    if (!user) return reply.code(401).send({ error: { code: 401 } })
    const { memberships, ...owner } = user
    const membership = memberships.find(({ organizationId, slug }) =>
      [organizationId, slug].includes(request.organizationRef ?? ''),
    )
    const organization = membership && {
      organizationId: membership.organizationId,
      role: membership.role,
    }
    return { ...owner, ...(organization && { organization }) }
  }
}

const prefixOf = (key: string) => key.slice('fms_'.length, 'fms_'.length + 8)

const hashOf = (key: string) => createHash('sha256').update(key).digest('base64url')

export interface GatewayTestOptions {
  natsUrl?: string
  publishTimeoutMs?: number
  rateLimitPerMinute?: number
  maxRequestsPerUser?: number
  maxRequestsPerOrganization?: number
  maxConnections?: number
  maxKeyLookups?: number
  maxBufferedResponseBytes?: number
  maxRequests?: number
  trustProxy?: string
  corsOrigins?: string
  publicForms?: 'on' | 'off'
  publicFormBaseUrl?: string
  publicFormImageOrigins?: string
  now?: () => number
  /** Shared by several gateways that accept the same keys. */
  directory?: Directory
  logger?: Logger
  /** The folder of the built console; none by default. */
  consoleFolder?: string
}

/** Starts the gateway on a free port, with stubs of organizations and forms, and one user with a key. */
export const startGateway = async ({
  natsUrl = 'nats://127.0.0.1:1',
  publishTimeoutMs = 10_000,
  rateLimitPerMinute = 0,
  maxRequestsPerUser,
  maxRequestsPerOrganization,
  maxConnections,
  maxKeyLookups,
  maxBufferedResponseBytes,
  trustProxy,
  corsOrigins,
  publicForms,
  publicFormBaseUrl = 'http://127.0.0.1:8080/f',
  publicFormImageOrigins,
  maxRequests = 256,
  now,
  directory = new Directory(),
  logger = pino({ level: 'silent' }),
  consoleFolder = '/nonexistent',
}: GatewayTestOptions = {}) => {
  const organizations = await startStubService(directory.respond)
  const forms = await startStubService(() => ({ from: 'forms' }))
  const config = readConfig(GatewayConfig, {
    INTERNAL_SECRET: secret,
    ORGANIZATIONS_URL: organizations.origin,
    FORMS_URL: forms.origin,
    NATS_URL: natsUrl,
    PUBLISH_TIMEOUT_MS: String(publishTimeoutMs),
    RATE_LIMIT_PER_MINUTE: String(rateLimitPerMinute),
    MAX_REQUESTS_PER_USER: optionalText(maxRequestsPerUser),
    MAX_REQUESTS_PER_ORGANIZATION: optionalText(maxRequestsPerOrganization),
    MAX_CONNECTIONS: optionalText(maxConnections),
    MAX_KEY_LOOKUPS: optionalText(maxKeyLookups),
    MAX_BUFFERED_RESPONSE_BYTES: optionalText(maxBufferedResponseBytes),
    TRUST_PROXY: trustProxy,
    CORS_ORIGINS: corsOrigins,
    PUBLIC_FORMS: publicForms,
    PUBLIC_FORM_BASE_URL: publicFormBaseUrl,
    PUBLIC_FORM_IMAGE_ORIGINS: publicFormImageOrigins,
    MAX_REQUESTS: String(maxRequests),
  })
  const app = await createGateway(config, logger, now, consoleFolder)
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })

  const organization: Membership = { organizationId: randomUUID(), slug: 'acme', role: 'editor' }
  const key = directory.createKey([organization])
  const client = new Agent()

  return {
    app,
    origin,
    directory,
    organizations,
    forms,
    organization,
    key,
    /** Creates a key of another user, who is a member of another organization with the same slug. */
    createStrangerKey: () => directory.createKey([{ ...organization, organizationId: randomUUID() }]),
    /** Sends a request with the path unchanged, and reads the whole response. */
    async send(method: string, path: string, { as = key, headers = {}, body }: SendOptions = {}) {
      const response = await client.request({
        origin,
        path,
        method: method as Dispatcher.HttpMethod,
        headers: { ...(as && { 'x-api-key': as }), ...headers },
        body: body ?? null,
      })
      const text = await response.body.text()
      return {
        status: response.statusCode,
        headers: response.headers,
        text,
        json: () => JSON.parse(text),
        /** The body without the request id, which differs between any two responses. */
        withoutRequestId: () => text.replaceAll(String(response.headers['x-request-id']), ''),
      }
    },
    async [Symbol.asyncDispose]() {
      await client.destroy()
      await app.close()
      await Promise.all([organizations.stop(), forms.stop()])
    },
  }
}

const optionalText = (value: number | undefined) => (value === undefined ? undefined : String(value))

export interface SendOptions {
  /** The API key; the empty string for none. */
  as?: string
  headers?: Record<string, string | string[]>
  body?: Dispatcher.DispatchOptions['body']
}

export const json = { 'content-type': 'application/json' }

/** The reason of an error response. */
export const reasonOf = (response: { json(): { error: { details: { reason?: string }[] } } }) =>
  response.json().error.details[0]?.reason

/** A logger, its lines, and a function that waits for a line with a text. */
export const startLog = () => {
  const lines: { msg: string; circuit?: string; cause?: string; user?: string }[] = []
  const waiting: { text: string; found: () => void }[] = []
  const write = (line: string) => {
    const { msg, circuit, cause, user } = JSON.parse(line)
    lines.push({ msg, circuit, cause, user })
    for (const { text, found } of waiting) if (msg.includes(text)) found()
  }
  const line = (text: string) => new Promise<void>((found) => waiting.push({ text, found }))
  return { logger: pino({ level: 'info' }, { write }), line, lines }
}

export type Gateway = Awaited<ReturnType<typeof startGateway>>
