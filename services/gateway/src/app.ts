import { type MaskMembers, maskMembersOf } from '@fms/aip'
import { Form, Revision } from '@fms/contracts'
import {
  bodyLimitBytes,
  bodyTooLarge,
  collectPaths,
  connectNats,
  createApp,
  createIdentitySigner,
  limitRequests,
  rejectUnknownPaths,
} from '@fms/service-kit'
import type { FastifyBaseLogger, FastifyContextConfig, FastifyInstance, HTTPMethods } from 'fastify'
import type { Agent } from 'undici'
import { authenticate, reauthorizeLateBodies, requireMembership } from './caller/authenticate.ts'
import { type Authorize, createAuthorizationCache } from './caller/authorization-cache.ts'
import { createAuthorizeClient } from './caller/authorize-client.ts'
import { createFindFormOwner, type FindFormOwner } from './caller/find-form-owner.ts'
import { resolveOrganization } from './caller/resolve-organization.ts'
import type { GatewayConfig } from './config.ts'
import { consoleRoutes } from './console/console.ts'
import { builtConsoleFolder } from './console/console-files.ts'
import { forwardStream } from './event-streams/forward-stream.ts'
import { StreamLimits } from './event-streams/stream-limits.ts'
import { ConcurrencyLimits } from './limits/concurrency-limits.ts'
import { cutOffSlowReaders } from './limits/cut-off-slow-readers.ts'
import { FixedWindowCounter } from './limits/fixed-window-counter.ts'
import { limitConcurrency } from './limits/limit-concurrency.ts'
import { type KeyCounts, limitRate } from './limits/rate-limit.ts'
import { shareCounts } from './limits/share-counts.ts'
import { createPublisherClient, type PublisherClient } from './publish/publisher-client.ts'
import { keepResponsesPrivate } from './responses/cache-headers.ts'
import { allowOrigins, respondToPreflights } from './responses/cors.ts'
import { endWithNewline } from './responses/end-with-newline.ts'
import { createSession } from './routes/create-session.ts'
import { docsPage } from './routes/docs-page.ts'
import { home } from './routes/home.ts'
import { openApi } from './routes/openapi.ts'
import { publishForm } from './routes/publish-form.ts'
import { anyOrganization, forward } from './upstream/forward.ts'
import { createResponseMemory, type ResponseMemory } from './upstream/send-response.ts'
import { createAgent, createStreamAgent, createUpstream, probe, type Upstream } from './upstream/upstream.ts'

/** Longer heads get a 431. */
const maxHeaderBytes = 64 * 1024

/** Authorize requests in flight: the limit of organizations. */
const maxAuthorizeRequests = 1_000

/** Timeout of the next bytes of an event stream, in milliseconds. Forms sends a comment every five seconds. */
const streamTimeoutMs = 15_000

/** The largest body of a sign-in, which anybody can send. */
const sessionBodyLimitBytes = 4 * 1024

const organizationPath = '/organizations/:organizationRef'
const formPath = `${organizationPath}/forms/:formRef`
const deletedFormPath = `${organizationPath}/deletedForms/:formRef`

/** What the routes under `/v2` need. */
interface GatewayDeps {
  config: GatewayConfig
  organizations: Upstream
  forms: Upstream
  streamAgent: Agent
  memory: ResponseMemory
  authorize: Authorize
  findOwner: FindFormOwner
  keyCounts: KeyCounts
  limits: ConcurrencyLimits
  publisher: PublisherClient
  sign: ReturnType<typeof createIdentitySigner>
  consoleFolder: string
}

/**
 * The public API: authenticates callers, limits them, and forwards their requests to services.
 *
 * @param now milliseconds of a monotonic clock, for the age of authorizations and the windows of the rate limit.
 * @param consoleFolder the built console; it may be missing.
 */
export const createGateway = async (
  config: GatewayConfig,
  logger: FastifyBaseLogger,
  now = () => performance.now(),
  consoleFolder = builtConsoleFolder,
) => {
  const { organizations, forms, streamAgent, authorization, ready, close } = createUpstreams(config, logger)
  const connecting = connectNats(config.NATS_URL, 'gateway', { logger })
  const publisher = createPublisherClient(connecting, logger, config.MAX_REQUESTS)
  const counts = new FixedWindowCounter(now)
  const shared = shareCounts(counts, connecting, logger)
  const sign = createIdentitySigner(config.INTERNAL_SECRET)
  const deps: GatewayDeps = {
    config,
    organizations,
    forms,
    streamAgent,
    memory: createResponseMemory(config.MAX_BUFFERED_RESPONSE_BYTES),
    authorize: createAuthorizationCache({
      requestAuthorization: createAuthorizeClient(authorization, sign),
      sign,
      now,
      maxKeyLookups: config.MAX_KEY_LOOKUPS,
      maxPerUser: config.MAX_REQUESTS_PER_USER,
    }),
    findOwner: createFindFormOwner(forms, sign),
    keyCounts: { counts, add: shared.add },
    limits: new ConcurrencyLimits(config.MAX_REQUESTS_PER_USER, Math.ceil(config.MAX_REQUESTS / 2)),
    publisher,
    sign,
    consoleFolder,
  }

  const app = createApp({
    logger,
    maxHeaderBytes,
    trustProxy: config.TRUST_PROXY,
    newConnections: 'listen',
    addFirstHooks: (app) => allowOrigins(app, config.CORS_ORIGINS),
    ready,
  })
  respondToPreflights(app)
  cutOffSlowReaders(app)
  endWithNewline(app)
  app.register(home, { consoleFolder })
  app.register(v2(deps), { prefix: '/v2' })
  // `onClose` runs after the last response, publish requests included.
  app.addHook('onClose', async () => {
    shared.stop()
    await publisher.close()
    await close()
  })
  return app
}

/** The services behind the gateway. Probes have connections of their own. */
const createUpstreams = (config: GatewayConfig, logger: FastifyBaseLogger) => {
  const agent = createAgent()
  const probeAgent = createAgent()
  const streamAgent = createStreamAgent(streamTimeoutMs)
  const create = (name: string, origin: string, maxRequests = config.MAX_REQUESTS) =>
    createUpstream({ name, origin, agent, logger, maxRequests })
  const organizations = create('organizations', config.ORGANIZATIONS_URL)
  const forms = create('forms', config.FORMS_URL)
  return {
    organizations,
    forms,
    streamAgent,
    /** Organizations, with circuits and a limit for authorize requests only. */
    authorization: create('authorize', config.ORGANIZATIONS_URL, maxAuthorizeRequests),
    /** Does not check NATS: without it only publishing fails. */
    ready: async () => {
      await Promise.all([organizations, forms].map(({ name, origin }) => probe(probeAgent, name, origin)))
    },
    close: async () => {
      await Promise.all([agent.close(), probeAgent.close(), streamAgent.close()])
    },
  }
}

/** Every route under `/v2`. The hooks of the guarded routes are in the order of checks. */
const v2 = (deps: GatewayDeps) => async (app: FastifyInstance) => {
  const { config, authorize, keyCounts, limits } = deps
  const paths = collectPaths(app)
  app.register(openApi)
  app.register(docsPage)
  app.register(consoleRoutes, { folder: deps.consoleFolder })
  app.register(sessionRoute(deps))
  app.register(async (guarded) => {
    keepResponsesPrivate(guarded)
    authenticate(guarded, authorize)
    limitRate(guarded, config.RATE_LIMIT_PER_MINUTE, keyCounts)
    limitConcurrency(guarded, limits)
    rejectUnknownPaths(guarded, paths)
    requireMembership(guarded)
    rejectLongBodies(guarded, bodyLimitBytes)
    reauthorizeLateBodies(guarded, authorize)
    // Three scopes, each with its own limit of requests in flight.
    guarded.register(organizationRoutes(deps))
    guarded.register(formRoutes(deps))
    guarded.register(publishRoute(deps))
  })
}

/** Returns a function that registers routes whose requests are forwarded to a service. */
const forwardTo =
  (to: Upstream, { memory }: GatewayDeps, app: FastifyInstance) =>
  (methods: HTTPMethods[], paths: string[], config?: FastifyContextConfig) =>
    void app.register(forward, { to, memory, methods, paths, ...(config && { config }) })

const organizationRoutes = (deps: GatewayDeps) => async (app: FastifyInstance) => {
  limitRequests(app, deps.config.MAX_REQUESTS)
  const route = forwardTo(deps.organizations, deps, app)
  route(['GET'], ['/organizations', organizationPath, '/whoami'])
  route(['GET', 'POST'], ['/keys'])
  route(['DELETE'], ['/keys/:keyId'])
  route(['POST'], ['/keys/:keyId/rotate'])
}

/** Has a limit of its own, so that no number of wrong codes delays callers with keys. */
const sessionRoute =
  ({ config, organizations, sign }: GatewayDeps) =>
  async (app: FastifyInstance) => {
    limitRequests(app, config.MAX_KEY_LOOKUPS)
    rejectLongBodies(app, sessionBodyLimitBytes)
    app.register(createSession, {
      organizations,
      sign,
      bodyLimitBytes: sessionBodyLimitBytes,
    })
  }

const formRoutes = (deps: GatewayDeps) => async (app: FastifyInstance) => {
  limitRequests(app, deps.config.MAX_REQUESTS)
  const route = forwardTo(deps.forms, deps, app)
  route(['GET', 'POST'], [`${organizationPath}/forms`])
  route(['GET', 'PATCH', 'DELETE'], [formPath])
  route(['GET'], [`${formPath}/changes`, `${formPath}/revisions`, `${formPath}/revisions/:revisionRef`])
  route(['POST'], [`${formPath}/unpublish`, `${formPath}/revisions/:revisionRef/rollback`])
  route(['GET'], [`${organizationPath}/deletedForms`])
  route(['POST'], [`${deletedFormPath}/undelete`])
  route(['DELETE'], [deletedFormPath], { requiresOwner: true })
  route(['GET'], [`${organizationPath}/events`, `${organizationPath}/events/:eventId`])
  app.register(forwardStream, {
    path: `${organizationPath}/events/stream`,
    to: deps.forms,
    agent: deps.streamAgent,
    limits: new StreamLimits(),
    authorize: deps.authorize,
  })
  const path = `/organizations/${anyOrganization}/forms/:formRef`
  app.register(publicIdRoute(deps, path, maskMembersOf(Form)))
  app.register(publicIdRoute(deps, `${path}/revisions/live`, maskMembersOf(Revision)))
}

/** One of the two reads of a form by its public id, in whichever organization it is (AIP-159). */
const publicIdRoute =
  (deps: GatewayDeps, path: string, members: MaskMembers) => async (app: FastifyInstance) => {
    const { findOwner, authorize, limits } = deps
    resolveOrganization(app, { findOwner, authorize, limits, members })
    forwardTo(deps.forms, deps, app)(['GET'], [path])
  }

const publishRoute =
  ({ config, publisher }: GatewayDeps) =>
  async (app: FastifyInstance) => {
    limitRequests(app, config.MAX_REQUESTS)
    app.register(publishForm, {
      path: `${formPath}/publish`,
      publisher,
      publishTimeoutMs: config.PUBLISH_TIMEOUT_MS,
    })
  }

/** Rejects bodies by their content-length, before their type is checked: 413 comes before 415. */
const rejectLongBodies = (app: FastifyInstance, limitBytes: number) => {
  app.addHook('preParsing', ({ headers }, _reply, _payload, done) => {
    if (Number(headers['content-length']) > limitBytes) throw bodyTooLarge(limitBytes)
    done()
  })
}
