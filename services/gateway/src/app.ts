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
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { authenticate, reauthorizeLateBodies, requireMembership } from './caller/authenticate.ts'
import { createAuthorizationCache } from './caller/authorization-cache.ts'
import { createAuthorizeClient } from './caller/authorize-client.ts'
import { createFormOwnerLookup } from './caller/find-form-owner.ts'
import { resolveOrganization } from './caller/resolve-organization.ts'
import type { GatewayConfig } from './config.ts'
import { ConcurrencyLimits } from './limits/concurrency-limits.ts'
import { cutOffSlowReaders } from './limits/cut-off-slow-readers.ts'
import { FixedWindowCounter } from './limits/fixed-window-counter.ts'
import { limitConcurrency } from './limits/limit-concurrency.ts'
import { limitRate } from './limits/rate-limit.ts'
import { shareCounts } from './limits/share-counts.ts'
import { createPublisherClient } from './publish/publisher-client.ts'
import { allowOrigins, answerPreflights } from './responses/cors.ts'
import { endWithNewline } from './responses/end-with-newline.ts'
import { keepResponsesPrivate } from './responses/private-responses.ts'
import { docsPage } from './routes/docs-page.ts'
import { home } from './routes/home.ts'
import { openApi } from './routes/openapi.ts'
import { publishForm } from './routes/publish-form.ts'
import { anyOrganization, proxy } from './upstream/forward.ts'
import { createResponseMemory } from './upstream/send-response.ts'
import { createAgent, createUpstream, probe } from './upstream/upstream.ts'

/** Heads over this are answered 431. */
const maxHeaderBytes = 64 * 1024

/** Authorize requests in flight: as many as organizations takes. */
const maxAuthorizeRequests = 1_000

/** The one public door: an API key and a v2 path in, a service's answer out. */
export const createGateway = async (
  config: GatewayConfig,
  logger: FastifyBaseLogger,
  // How old an answer is shall not change with the time of day.
  now = () => performance.now(),
) => {
  const agent = createAgent()
  const probes = createAgent()
  const upstream = (name: string, origin: string, maxRequests = config.MAX_REQUESTS) =>
    createUpstream({ name, origin, agent, logger, maxRequests })
  const organizations = upstream('organizations', config.ORGANIZATIONS_URL)
  const forms = upstream('forms', config.FORMS_URL)
  const directory = upstream('authorize', config.ORGANIZATIONS_URL, maxAuthorizeRequests)
  const memory = createResponseMemory(config.MAX_BUFFERED_RESPONSE_BYTES)
  const limits = new ConcurrencyLimits(config.MAX_REQUESTS_PER_USER, Math.ceil(config.MAX_REQUESTS / 2))
  const connecting = connectNats(config.NATS_URL, 'gateway')
  const publisher = createPublisherClient(connecting, logger, config.MAX_REQUESTS)
  const counts = new FixedWindowCounter(now)
  const shared = shareCounts(counts, connecting, logger)
  const sign = createIdentitySigner(config.INTERNAL_SECRET)
  const authorize = createAuthorizationCache({
    ask: createAuthorizeClient(directory, sign),
    sign,
    now,
    maxKeyLookups: config.MAX_KEY_LOOKUPS,
    maxPerUser: config.MAX_REQUESTS_PER_USER,
  })
  const findOwner = createFormOwnerLookup(forms, sign)
  const publishTimeoutMs = config.PUBLISH_TIMEOUT_MS

  const v2 = async (app: FastifyInstance) => {
    const paths = collectPaths(app)
    app.register(openApi)
    app.register(docsPage)
    app.register(async (guarded) => {
      keepResponsesPrivate(guarded)
      authenticate(guarded, authorize)
      limitRate(guarded, config.RATE_LIMIT_PER_MINUTE, { counts, add: shared.add })
      limitConcurrency(guarded, limits)
      rejectUnknownPaths(guarded, paths)
      requireMembership(guarded)
      refuseLongBodies(guarded)
      reauthorizeLateBodies(guarded, authorize)
      guarded.register(resources)
    })
  }

  const resources = async (app: FastifyInstance) => {
    const ofOrganization = '/organizations/:organizationRef'
    const ofForm = `${ofOrganization}/forms/:formRef`

    const bounded = (routes: (app: FastifyInstance) => void) =>
      app.register(async (scope) => {
        limitRequests(scope, config.MAX_REQUESTS)
        routes(scope)
      })

    bounded((app) => {
      app.register(proxy, {
        to: organizations,
        memory,
        methods: ['GET'],
        paths: ['/organizations', ofOrganization],
      })
    })
    bounded((app) => {
      app.register(proxy, { to: forms, memory, methods: ['GET', 'POST'], paths: [`${ofOrganization}/forms`] })
      app.register(proxy, { to: forms, memory, methods: ['GET', 'PATCH', 'DELETE'], paths: [ofForm] })
      app.register(proxy, {
        to: forms,
        memory,
        methods: ['GET'],
        paths: [`${ofForm}/revisions`, `${ofForm}/revisions/:revisionRef`],
      })
      app.register(async (app) => {
        const byPublicId = `/organizations/${anyOrganization}/forms/:formRef`
        resolveOrganization(app, { findOwner, authorize, limits })
        app.register(proxy, {
          to: forms,
          memory,
          methods: ['GET'],
          paths: [byPublicId, `${byPublicId}/revisions/live`],
        })
      })
    })
    bounded((app) => {
      app.register(publishForm, { path: `${ofForm}/publish`, publisher, publishTimeoutMs })
    })
  }

  const app = createApp({
    logger,
    maxHeaderBytes,
    trustProxy: config.TRUST_PROXY,
    newConnections: 'listen',
    addFirstHooks: (app) => allowOrigins(app, config.CORS_ORIGINS),
    // Without NATS nothing is published, and everything else works.
    ready: async () => {
      await Promise.all([organizations, forms].map(({ name, origin }) => probe(probes, name, origin)))
    },
  })
  answerPreflights(app)
  cutOffSlowReaders(app)
  endWithNewline(app)
  app.register(home)
  app.register(v2, { prefix: '/v2' })
  // By now every request is answered, those that waited for a publisher too.
  app.addHook('onClose', async () => {
    shared.stop()
    await publisher.close()
    await Promise.all([agent.close(), probes.close()])
  })
  return app
}

/** By the length that they announce, before anything is said about their type. */
const refuseLongBodies = (app: FastifyInstance) => {
  app.addHook('preParsing', ({ headers }, _reply, _payload, done) => {
    if (Number(headers['content-length']) > bodyLimitBytes) throw bodyTooLarge(bodyLimitBytes)
    done()
  })
}
