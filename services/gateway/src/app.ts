import { type MaskSchema, maskSchemaOf } from '@fms/aip'
import { allOperations, Form, type Operation, operations, Revision, routePatternOf } from '@fms/contracts'
import {
  type App,
  closeTimeoutMs,
  collectPaths,
  connectNats,
  createApp,
  limitConnections,
  limitPipelining,
  rejectUnknownPaths,
} from '@fms/service-kit'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { MemoryBudget, reserveBodies } from './admission/memory-budget.ts'
import { authenticate, requireMembership } from './caller/authenticate.ts'
import { resolveOrganization } from './caller/resolve-organization.ts'
import { type GatewayConfig, showsForms } from './config.ts'
import { consoleRoutes } from './console/console.ts'
import { builtConsoleFolder } from './console/console-files.ts'
import { createDeps, createUpstreams, type GatewayDeps } from './deps.ts'
import { forwardStream } from './event-streams/forward-stream.ts'
import { limitConcurrency } from './limits/concurrency-limits.ts'
import { cutOffSlowReaders } from './limits/cut-off-slow-readers.ts'
import { countUntrustedForwarding, limitRate } from './limits/rate-limit.ts'
import { shareCounts } from './limits/share-counts.ts'
import { publicForms } from './public-forms/public-forms.ts'
import { createPublisherClient } from './publish/publisher-client.ts'
import {
  allowEveryOrigin,
  allowOrigins,
  keepResponsesPrivate,
  respondToPreflights,
} from './responses/headers.ts'
import { createSession } from './routes/create-session.ts'
import { docsPage } from './routes/docs-page.ts'
import { home } from './routes/home.ts'
import { llmsTxt, markdownDocs } from './routes/markdown-docs.ts'
import { openApi } from './routes/openapi.ts'
import { publishForm } from './routes/publish-form.ts'
import { anyOrganization, type ForwardedOperation, forward } from './upstream/forward.ts'

/** How long a closing gateway waits for the replies of publishers, in milliseconds. Then it has a second to send errors. */
const lastRepliesMs = closeTimeoutMs - 1_000

/** Bytes of bodies over 16 KiB in a gateway. */
const maxBodyBytes = 64 * 1024 * 1024

/** The public API. @param now milliseconds of a monotonic clock. @param consoleFolder it may be missing. */
export const createGateway = async (
  config: GatewayConfig,
  logger: FastifyBaseLogger,
  now = performance.now.bind(performance),
  consoleFolder = builtConsoleFolder,
) => {
  const stop = new AbortController()
  const connecting = connectNats(config.NATS_URL, 'gateway', { logger, signal: stop.signal })
  const upstreams = createUpstreams(config, logger)
  const deps = createDeps(config, upstreams, createPublisherClient(connecting, logger), now, consoleFolder)
  const { publisher } = deps
  const stopSharing = shareCounts(deps.counts, connecting, logger)

  const app = createApp({ logger, trustProxy: config.TRUST_PROXY, ready: upstreams.ready })
  allowOrigins(app, config.CORS_ORIGINS)
  if (showsForms(config)) allowEveryOrigin(app, '/f/')
  limitConnections(app, config.MAX_CONNECTIONS)
  limitPipelining(app)
  respondToPreflights(app)
  cutOffSlowReaders(app)
  countUntrustedForwarding(app)
  home(app, deps)
  if (showsForms(config)) publicForms(app, deps)
  llmsTxt(app, deps)
  app.register(v2(deps), { prefix: '/v2' })
  // A deadline may be later than the end of the process. A repeat can succeed at another gateway.
  app.addHook('preClose', async () => {
    setTimeout(publisher.giveUp, lastRepliesMs).unref()
  })
  // `onClose` runs after the last response, publish requests included.
  app.addHook('onClose', async () => {
    stop.abort()
    stopSharing()
    await publisher.close()
    await upstreams.close()
  })
  return app
}

/** Every route under `/v2`. The hooks of the authenticated routes are in the order of checks. */
const v2 = (deps: GatewayDeps) => async (app: App) => {
  const { config, authorize, counts, limits } = deps
  const paths = collectPaths(app)
  for (const addRoute of [docsPage, openApi, markdownDocs, consoleRoutes, createSession]) addRoute(app, deps)
  app.register(async (authenticated) => {
    keepResponsesPrivate(authenticated)
    authenticate(authenticated, authorize)
    limitRate(authenticated, config.RATE_LIMIT_PER_MINUTE, counts)
    limitConcurrency(authenticated, limits)
    rejectUnknownPaths(authenticated, paths)
    requireMembership(authenticated)
    reserveBodies(authenticated, new MemoryBudget('requests', maxBodyBytes))
    const forwarded = allOperations.filter(isForwarded)
    for (const [first, ...others] of Map.groupBy(forwarded, proxyOf).values())
      authenticated.register(forward, { deps, routes: [routeOf(first!), ...others.map(routeOf)] })
    authenticated.register(publicIdRoute(deps, operations.getForm, '', maskSchemaOf(Form)))
    authenticated.register(
      publicIdRoute(deps, operations.getRevision, '/revisions/live', maskSchemaOf(Revision)),
    )
    for (const addRoute of [forwardStream, publishForm]) addRoute(authenticated, deps)
  })
}

/** Sign-ins and streams have routes of their own. */
const isForwarded = <T extends Operation>(operation: T): operation is T & ForwardedOperation =>
  ['organizations', 'forms'].includes(operation.service) &&
  operation.access !== 'anyone' &&
  operation.cost !== 'stream'

/** Operations of one service with one method share a proxy: each is a plugin with plugins of its own, and slow to load. */
const proxyOf = ({ service, method }: ForwardedOperation) => `${service} ${method}`

const routeOf = (operation: ForwardedOperation) => [routePatternOf(operation), operation] as const

/** A read of a form by its public id, in whichever organization (AIP-159). @param rest the path after that of the form. */
const publicIdRoute =
  (deps: GatewayDeps, read: ForwardedOperation, rest: string, members: MaskSchema) =>
  async (app: FastifyInstance) => {
    resolveOrganization(app, deps, members)
    const path = `/organizations/${anyOrganization}/forms/:formRef${rest}`
    app.register(forward, { deps, routes: [[path, read]] })
  }
