import { Identity, identityHeader, ServiceIdentity } from '@fms/contracts'
import { createSigner, createVerifier } from 'fast-jwt'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { identityRequired, writeForbidden } from './http/errors.ts'

/** How long a token is good for: long enough for a request under way, too short to be worth stealing. */
const tokenLifetimeMs = 60_000

/** Signs what the gateway vouches for as a compact token (RFC 7519, HS256 with the shared secret). */
export const createIdentitySigner = (secret: string): ((identity: Identity | ServiceIdentity) => string) => {
  const sign = createSigner({ key: secret, algorithm: 'HS256', expiresIn: tokenLifetimeMs })
  return (identity) => sign({ ...identity })
}

/** Tokens that are remembered: a gateway uses one for half a minute, for each caller and organization. */
const maxTokens = 1_000

/**
 * @param content what it has to say.
 * @returns that, or undefined when no secret of ours signed the token, or its minute is over.
 */
export const createIdentityVerifier = <T = unknown>(
  secrets: readonly string[],
  content: z.ZodType<T> = z.any(),
): ((token: string) => T | undefined) => {
  const verifiers = secrets.map((key) => createVerifier({ key, algorithms: ['HS256'] }))
  const known = new LRUCache<string, { said: T; expiresAt: number }>({ max: maxTokens })

  const verify = (token: string): { exp: number } | undefined => {
    for (const verifier of verifiers) {
      try {
        return verifier(token)
      } catch {
        // Another secret of a rotation may have signed it.
      }
    }
    return undefined
  }

  return (token) => {
    const remembered = known.get(token)
    if (remembered && Date.now() < remembered.expiresAt) return remembered.said
    const payload = verify(token)
    const { success, data } = content.safeParse(payload)
    if (!payload || !success) return undefined
    known.set(token, { said: data, expiresAt: payload.exp * 1000 })
    return data
  }
}

/** Refuses every request that does not carry the gateway's word for who is calling. */
export const requireIdentity = fastifyPlugin(
  async (app: FastifyInstance, { secrets }: { secrets: readonly string[] }) => {
    const verify = createIdentityVerifier(secrets, Identity)
    app.addHook('onRequest', (request, _reply, done) => {
      const identity = verify(tokenOf(request))
      if (!identity) return done(identityRequired())
      request.identity = identity
      done()
    })
  },
)

/** Refuses every request that is not the gateway's own. */
export const requireGateway = fastifyPlugin(
  async (app: FastifyInstance, { secrets }: { secrets: readonly string[] }) => {
    const verify = createIdentityVerifier(secrets, ServiceIdentity)
    app.addHook('onRequest', (request, _reply, done) => {
      done(verify(tokenOf(request)) ? undefined : identityRequired())
    })
  },
)

const tokenOf = ({ headers }: FastifyRequest) => String(headers[identityHeader] ?? '')

/** @throws {ApiError} PERMISSION_DENIED for viewers and read-only keys. */
export const requireWriteAccess = ({ role, readOnly }: Pick<Identity, 'role' | 'readOnly'>): void => {
  if (readOnly) throw writeForbidden('key')
  if (role === 'viewer') throw writeForbidden('role')
}
