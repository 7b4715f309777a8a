import { Identity, identityHeader, ServiceIdentity } from '@fms/contracts'
import { createSigner, createVerifier } from 'fast-jwt'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { identityRequired, writeForbidden } from './errors.ts'

/** How long a token is good for: long enough for a request under way, too short to be worth stealing. */
const tokenLifetimeMs = 60_000

/** Signs what the gateway vouches for as a compact token (RFC 7519, HS256 with the shared secret). */
export const createIdentitySigner = (secret: string): ((identity: Identity | ServiceIdentity) => string) => {
  const sign = createSigner({ key: secret, algorithm: 'HS256', expiresIn: tokenLifetimeMs })
  return (identity) => sign({ ...identity })
}

/** @returns what the token says, or undefined when no secret of ours signed it or its minute is over. */
export const createIdentityVerifier = (secrets: readonly string[]): ((token: string) => unknown) => {
  const verifiers = secrets.map((key) => createVerifier({ key, algorithms: ['HS256'], cache: 1000 }))
  return (token) => {
    for (const verify of verifiers) {
      try {
        return verify(token)
      } catch {
        // Another secret of a rotation may have signed it.
      }
    }
    return undefined
  }
}

/** Refuses every request that does not carry the gateway's word for who is calling. */
export const requireIdentity = fastifyPlugin(
  async (app: FastifyInstance, { secrets }: { secrets: readonly string[] }) => {
    const verify = createIdentityVerifier(secrets)
    app.addHook('onRequest', async (request) => {
      const { success, data } = Identity.safeParse(verify(tokenOf(request)))
      if (!success) throw identityRequired()
      request.identity = data
    })
  },
)

/** Refuses every request that is not the gateway's own. */
export const requireGateway = fastifyPlugin(
  async (app: FastifyInstance, { secrets }: { secrets: readonly string[] }) => {
    const verify = createIdentityVerifier(secrets)
    app.addHook('onRequest', async (request) => {
      if (!ServiceIdentity.safeParse(verify(tokenOf(request))).success) throw identityRequired()
    })
  },
)

const tokenOf = ({ headers }: FastifyRequest) => String(headers[identityHeader] ?? '')

/** @throws {ApiError} PERMISSION_DENIED for viewers and read-only keys. */
export const refuseReaders = ({ role, readOnly }: Pick<Identity, 'role' | 'readOnly'>): void => {
  if (readOnly) throw writeForbidden('key')
  if (role === 'viewer') throw writeForbidden('role')
}
