import type { PageTokens } from '@fms/aip'
import type { DirectoryStore } from '@fms/directory-store'
import { type App, createApp, requireGateway, requireIdentity } from '@fms/service-kit'
import type { FastifyBaseLogger } from 'fastify'
import { authorize } from './routes/authorize.ts'
import { getOrganization } from './routes/get-organization.ts'
import { listOrganizations } from './routes/list-organizations.ts'

/** What the routes work with; the clock comes in, so that tests can set it. */
export interface OrganizationsDeps {
  directory: DirectoryStore
  pageTokens: PageTokens
  now: () => Date
}

export interface OrganizationsAppOptions extends OrganizationsDeps {
  logger: FastifyBaseLogger
  internalSecrets: readonly string[]
}

/** The organizations service: what members see of their organizations, and who a key's user is. */
export const createOrganizationsApp = ({
  logger,
  internalSecrets: secrets,
  ...deps
}: OrganizationsAppOptions): App => {
  const app = createApp({ logger, maxRequests: 1_000, ready: () => deps.directory.ping() })
  app.register(async (forUsers) => {
    forUsers.register(requireIdentity, { secrets })
    forUsers.register(listOrganizations, deps)
    forUsers.register(getOrganization, deps)
  })
  app.register(async (forTheGateway) => {
    forTheGateway.register(requireGateway, { secrets })
    forTheGateway.register(authorize, deps)
  })
  return app
}
