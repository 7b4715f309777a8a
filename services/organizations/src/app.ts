import {
  type App,
  createApp,
  isWrite,
  requireGateway,
  requireIdentity,
  requireKeyWriteAccess,
} from '@fms/service-kit'
import type { FastifyBaseLogger } from 'fastify'
import type { OrganizationsDeps } from './deps.ts'
import { getCallerKey } from './get-caller-key.ts'
import { authorize } from './routes/authorize.ts'
import { createKey } from './routes/create-key.ts'
import { createSession } from './routes/create-session.ts'
import { deleteKey } from './routes/delete-key.ts'
import { getOrganization } from './routes/get-organization.ts'
import { getWhoami } from './routes/get-whoami.ts'
import { listKeys } from './routes/list-keys.ts'
import { listOrganizations } from './routes/list-organizations.ts'
import { rotateKey } from './routes/rotate-key.ts'

export interface OrganizationsAppOptions extends OrganizationsDeps {
  logger: FastifyBaseLogger
  internalSecrets: readonly string[]
}

/** The organizations service: reads for members, the keys of users, authorization and sign-in for the gateway. */
export const createOrganizationsApp = ({
  logger,
  internalSecrets: secrets,
  ...deps
}: OrganizationsAppOptions): App => {
  const app = createApp({ logger, isBehindGateway: true, ready: () => deps.directory.ping() })
  app.register(async (userRoutes) => {
    requireIdentity(userRoutes, secrets)
    for (const addRoute of [listOrganizations, getOrganization, getWhoami]) addRoute(userRoutes, deps)
    userRoutes.register(keyRoutes, deps)
  })
  app.register(async (gatewayRoutes) => {
    requireGateway(gatewayRoutes, secrets)
    for (const addRoute of [authorize, createSession]) addRoute(gatewayRoutes, deps)
  })
  return app
}

const keyRoutes = async (app: App, deps: OrganizationsDeps) => {
  app.decorateRequest('callerKey')
  app.addHook('onRequest', async (request) => {
    if (!isWrite(request)) return
    const { identity, method } = request
    const { keyId } = request.params as { keyId?: string }
    // A key may end itself, and repeat that.
    if (method === 'DELETE' && keyId?.toLowerCase() === identity.key.id) return
    // The gateway caches the rights of a key for a second: one that has lost them must not create another one.
    request.callerKey = await getCallerKey(deps.directory, identity)
    const { readOnly } = request.callerKey
    requireKeyWriteAccess({ readOnly, key: identity.key }, keyId)
  })
  for (const addRoute of [listKeys, createKey, rotateKey, deleteKey]) addRoute(app, deps)
}
