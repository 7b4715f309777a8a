import { Identity, identityHeader, ServiceIdentity } from '@fms/contracts'
import type { Flow } from '@fms/scheduling'
import { createSigner, createVerifier } from 'fast-jwt'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { identityRequired, organizationNotFound, ownerRequired, writeForbidden } from './http/errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route changes nothing, whatever its method: those who may only read may use it. */
    isRead?: boolean
  }
}

/** How long an identity token is valid: long enough for the request that it accompanies. */
const tokenLifetimeMs = 60_000

/** Creates a function that signs identity tokens: JSON Web Tokens (RFC 7519, HS256), valid for a minute. */
export const createIdentitySigner = (secret: string): ((identity: Identity | ServiceIdentity) => string) => {
  const sign = createSigner({ key: secret, algorithm: 'HS256', expiresIn: tokenLifetimeMs })
  return (identity) => sign({ ...identity })
}

/** The most tokens in the cache. A gateway uses a token for half a minute, for each caller and organization. */
const maxCachedTokens = 1_000

/**
 * Creates a function that returns the claims of a valid token, cached.
 *
 * @param secrets two during a rotation.
 * @param schema the required claims; any by default.
 */
export const createIdentityVerifier = <T = unknown>(
  secrets: readonly string[],
  schema: z.ZodType<T> = z.any(),
): ((token: string) => T | undefined) => {
  const verifySignature = createSignatureVerifier(secrets)
  const cache = new LRUCache<string, { claims: T; expiresAt: number }>({ max: maxCachedTokens })

  return (token) => {
    const cached = cache.get(token)
    if (cached && Date.now() < cached.expiresAt) return cached.claims
    const payload = verifySignature(token)
    const { success, data: claims } = schema.safeParse(payload)
    if (!payload || !success) return undefined
    cache.set(token, { claims, expiresAt: payload.exp * 1000 })
    return claims
  }
}

const createSignatureVerifier = (secrets: readonly string[]) => {
  const verifiers = secrets.map((key) => createVerifier({ key, algorithms: ['HS256'] }))
  return (token: string): { exp: number } | undefined => {
    for (const verifier of verifiers) {
      try {
        return verifier(token)
      } catch {
        // The other secret of a rotation may have signed it.
      }
    }
    return undefined
  }
}

/** Makes a function that adds a hook, which accepts only requests whose token has the claims of a schema. */
const requireToken =
  <T>(schema: z.ZodType<T>, onAccepted: (request: FastifyRequest, claims: T) => void) =>
  (app: FastifyInstance, secrets: readonly string[]): void => {
    const verify = createIdentityVerifier(secrets, schema)
    app.addHook('onRequest', (request, _reply, done) => {
      const claims = verify(String(request.headers[identityHeader] ?? ''))
      if (!claims) return done(identityRequired())
      onAccepted(request, claims)
      done()
    })
  }

/** Adds a hook that sets `request.identity` from the identity token. @throws {ApiError} IDENTITY_REQUIRED. */
export const requireIdentity = requireToken(Identity, (request, identity) => {
  request.identity = identity
})

/** Adds a hook that accepts only requests that the gateway sends for itself. @throws {ApiError} IDENTITY_REQUIRED. */
export const requireGateway = requireToken(ServiceIdentity, () => {})

/** Whether a request may change something: any but GET, HEAD, and those of routes that are marked as reads. */
export const isWrite = ({ method, routeOptions }: Pick<FastifyRequest, 'method' | 'routeOptions'>): boolean =>
  method !== 'GET' && method !== 'HEAD' && !routeOptions.config.isRead

/** Checks that a caller may write. @throws {ApiError} WRITE_FORBIDDEN for viewers and read-only keys. */
export const requireWriteAccess = ({ role, readOnly }: Pick<Identity, 'role' | 'readOnly'>): void => {
  if (readOnly) throw writeForbidden('key')
  if (role === 'viewer') throw writeForbidden('role')
}

/**
 * Adds a hook that accepts only requests in the organization of the token, and writes of those who may write.
 *
 * @throws {ApiError} ORGANIZATION_NOT_FOUND, WRITE_FORBIDDEN.
 */
export const requireAccess = (app: FastifyInstance): void => {
  app.addHook('onRequest', (request, _reply, done) => {
    const { organizationId } = request.params as { organizationId?: string }
    if (organizationId !== undefined && organizationId !== request.identity.organizationId)
      throw organizationNotFound(organizationId)
    if (isWrite(request)) requireWriteAccess(request.identity)
    done()
  })
}

/** Checks that a caller may change a key: with a read-only one only itself. @throws {ApiError} WRITE_FORBIDDEN */
export const requireKeyWriteAccess = (
  { readOnly, key }: Pick<Identity, 'readOnly' | 'key'>,
  keyId?: string,
): void => {
  if (readOnly && keyId?.toLowerCase() !== key.id) throw writeForbidden('key')
}

/** Checks that a caller is an owner of the organization. @throws {ApiError} WRITE_FORBIDDEN, OWNER_REQUIRED. */
export const requireOwner = (identity: Pick<Identity, 'role' | 'readOnly'>): void => {
  requireWriteAccess(identity)
  if (identity.role !== 'owner') throw ownerRequired(identity.role)
}

/** The flow of a caller. Outside organizations, a user is one of its own. */
export const flowOf = ({
  userId,
  organizationId = userId,
}: Pick<Identity, 'userId' | 'organizationId'>): Flow => ({
  organization: organizationId,
  user: userId,
})
