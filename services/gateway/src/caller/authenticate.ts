import { hash } from 'node:crypto'
import { organizationNotFound, requireWriteAccess } from '@fms/service-kit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { apiKeyInvalid } from '../errors.ts'
import type { Authorize, Caller } from './authorization-cache.ts'

/** `fms_` and the base64url text of 32 bytes. */
const apiKey = /^fms_[A-Za-z0-9_-]{43}$/

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller
  }
}

/** Names the caller of each request, and what they are to the organization that the path names. */
export const authenticate = (app: FastifyInstance, authorize: Authorize): void => {
  app.decorateRequest('caller')
  app.addHook('onRequest', (request) => nameCaller(request, authorize))
}

/**
 * Names the caller, and what they are to the organization.
 *
 * @throws {ApiError} API_KEY_INVALID.
 */
export const nameCaller = async (
  request: FastifyRequest,
  authorize: Authorize,
  organizationRef = organizationRefOf(request),
): Promise<void> => {
  const keyHash = keyHashOf(request)
  const caller = keyHash && (await authorize(keyHash, organizationRef, request.id))
  if (!caller) throw apiKeyInvalid()
  request.caller = caller
  request.identity = caller.identity
}

/** Lets in members alone, and readers to read; behind `rejectUnknownPaths`, since an unknown path comes first. */
export const requireMembership = (app: FastifyInstance): void => {
  app.addHook('preParsing', (request, _reply, _payload, done) => {
    checkMembership(request)
    done()
  })
}

const checkMembership = (request: FastifyRequest): void => {
  const organizationRef = organizationRefOf(request)
  if (organizationRef === undefined) return
  if (request.identity.organizationId === undefined) throw organizationNotFound(organizationRef)
  if (request.method !== 'GET' && request.method !== 'HEAD') requireWriteAccess(request.identity)
}

/** A body that comes later than this after the head, in milliseconds, is not taken on the word of then. */
const lateMs = 1_000

/**
 * Authorizes a request once more where its body came late: a key that was revoked meanwhile, or a role that was lowered,
 * allows nothing any more. Behind `requireMembership`.
 */
export const reauthorizeLateBodies = (app: FastifyInstance, authorize: Authorize): void => {
  app.addHook('preValidation', (request, reply, done) => {
    if (reply.elapsedTime < lateMs) return done()
    nameCaller(request, authorize)
      .then(() => checkMembership(request))
      .then(() => done(), done)
  })
}

const organizationRefOf = ({ params }: FastifyRequest) =>
  (params as { organizationRef?: string }).organizationRef

/** The hash that keys are known by; undefined where there is no key. Of two keys Node makes one text, which is none. */
const keyHashOf = ({ headers }: FastifyRequest): string | undefined => {
  const key = headers['x-api-key']
  return typeof key === 'string' && apiKey.test(key) ? hash('sha256', key, 'base64url') : undefined
}
