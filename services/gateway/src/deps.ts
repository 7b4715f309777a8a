import { createIdentitySigner } from '@fms/service-kit'
import type { FastifyBaseLogger } from 'fastify'
import { AdmissionQueue } from './admission/admission-queue.ts'
import { MemoryBudget } from './admission/memory-budget.ts'
import {
  createAuthorizationCache,
  createAuthorizeClient,
  createCachedToken,
} from './caller/authorization-cache.ts'
import { type GatewayConfig, maxBufferedBytes } from './config.ts'
import { createConsoleReader } from './console/console-files.ts'
import { ConcurrencyLimits } from './limits/concurrency-limits.ts'
import { FixedWindowCounter } from './limits/rate-limit.ts'
import type { PublisherClient } from './publish/publisher-client.ts'
import { createAgent, createStreamAgent } from './upstream/connections.ts'
import { createUpstream, probe } from './upstream/upstream.ts'

/** Publish commands on their way to a publisher and back: as many as one works on. */
const publishSeats = { seats: 64, perOrganization: 32, perUser: 8 }

const sessionSeats = { seats: 4 }

/** The services behind the gateway. */
export const createUpstreams = (config: GatewayConfig, logger: FastifyBaseLogger) => {
  const agent = createAgent()
  const streamAgent = createStreamAgent()
  const create = (name: string, origin: string) => createUpstream({ name, origin, agent, logger })
  const organizations = create('organizations', config.ORGANIZATIONS_URL)
  const forms = create('forms', config.FORMS_URL)
  return {
    organizations,
    forms,
    streamAgent,
    /** Organizations, with a circuit for authorize requests only. No admission queue: limits of look-ups bound them. */
    authorization: create('authorize', config.ORGANIZATIONS_URL),
    /** Does not check NATS: without it only publishing fails. */
    ready: async () => {
      await Promise.all([organizations, forms].map(({ name, origin }) => probe(agent, name, origin)))
    },
    close: async () => {
      await Promise.all([agent.close(), streamAgent.close()])
    },
  }
}

/** What routes and hooks use. */
export const createDeps = (
  config: GatewayConfig,
  { organizations, forms, authorization, streamAgent }: ReturnType<typeof createUpstreams>,
  publisher: PublisherClient,
  now: () => number,
  consoleFolder: string,
) => {
  const sign = createIdentitySigner(config.INTERNAL_SECRET)
  const token = createCachedToken(() => sign({ service: 'gateway' }))
  const seats = { seats: config.MAX_REQUESTS }
  return {
    config,
    organizations,
    forms,
    /** `publish` holds a seat until the reply or deadline. `sessions` is apart: wrong codes delay no other caller. */
    queues: {
      organizations: new AdmissionQueue('organizations', seats),
      forms: new AdmissionQueue('forms', seats),
      publish: new AdmissionQueue('publish', publishSeats),
      sessions: new AdmissionQueue('sessions', sessionSeats),
    },
    streamAgent,
    responseBudget: new MemoryBudget('responses', config.MAX_BUFFERED_RESPONSE_BYTES, maxBufferedBytes),
    authorize: createAuthorizationCache({
      requestAuthorization: createAuthorizeClient(authorization, token),
      sign,
      now,
      maxKeyLookups: config.MAX_KEY_LOOKUPS,
      maxPerUser: config.MAX_REQUESTS_PER_USER,
    }),
    counts: new FixedWindowCounter(now),
    /** Of requests without a key. */
    addressCounts: new FixedWindowCounter(now),
    limits: new ConcurrencyLimits(config.MAX_REQUESTS_PER_USER, config.MAX_REQUESTS_PER_ORGANIZATION),
    publisher,
    token,
    consoleFiles: createConsoleReader(consoleFolder),
  }
}

export type GatewayDeps = ReturnType<typeof createDeps>
