import type { PageTokens } from '@fms/aip'
import type { DirectoryStore } from '@fms/directory-store'
import { type App, createApp, requireGateway, requireIdentity } from '@fms/service-kit'
import type { FastifyBaseLogger } from 'fastify'
import { authorize } from './routes/authorize.ts'
import { getOrganization } from './routes/get-organization.ts'
import { listOrganizations } from './routes/list-organizations.ts'

/** The dependencies of the routes. `now` is the clock, which tests set. */
export interface OrganizationsDeps {
  directory: DirectoryStore
  pageTokens: PageTokens
  now: () => Date
}

/** The dependencies of the service. `internalSecrets` verify identity tokens: see `createIdentityVerifier`. */
export interface OrganizationsAppOptions extends OrganizationsDeps {
  logger: FastifyBaseLogger
  internalSecrets: readonly string[]
}

/** Creates the organizations service: reads of organizations for their members, and authorization for the gateway. */
export const createOrganizationsApp = ({
  logger,
  internalSecrets: secrets,
  ...deps
}: OrganizationsAppOptions): App => {
  const app = createApp({ logger, maxRequests: 1_000, ready: () => deps.directory.ping() })
  app.register(async (userRoutes) => {
    userRoutes.register(requireIdentity, { secrets })
    userRoutes.register(listOrganizations, deps)
    userRoutes.register(getOrganization, deps)
  })
  app.register(async (gatewayRoutes) => {
    gatewayRoutes.register(requireGateway, { secrets })
    gatewayRoutes.register(authorize, deps)
  })
  return app
}
