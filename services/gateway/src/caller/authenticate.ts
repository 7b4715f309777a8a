import { hash } from 'node:crypto'
import { API_KEY_PATTERN } from '@fms/contracts'
import {
  apiKeyInvalid,
  isWrite,
  organizationNotFound,
  requireKeyWriteAccess,
  requireOwner,
  requireWriteAccess,
} from '@fms/service-kit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { formNotFoundAnywhere } from '../errors.ts'
import type { Authorize, Caller } from './authorization-cache.ts'

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller
  }
}

/** Longer than any slug. What is cut off has no influence: an id or slug of this length does not exist. */
const maxRefLength = 100

/** Adds a hook that sets `request.caller` and `request.identity`, with the role in the organization of the path. */
export const authenticate = (app: FastifyInstance, authorize: Authorize): void => {
  app.decorateRequest('caller')
  app.addHook('onRequest', (request) => setCaller(request, authorize))
}

/** Sets `request.caller` and `request.identity`. @throws {ApiError} API_KEY_INVALID, and those of {@link Authorize}. */
export const setCaller = async (
  request: FastifyRequest,
  authorize: Authorize,
  organizationRef = organizationRefOf(request),
): Promise<void> => {
  const keyHash = keyHashOf(request)
  // The cut may divide a character, and half of one is no JSON.
  const ref = organizationRef?.slice(0, maxRefLength).toWellFormed()
  const caller = keyHash && (await authorize(keyHash, ref, request.id))
  if (!caller) throw apiKeyInvalid(request.headers)
  request.caller = caller
  request.identity = caller.identity
}

/**
 * Rejects those who are no members, writes of readers, and others than owners on their routes. Register it after
 * `rejectUnknownPaths`: an unknown path is a 404 for everybody.
 */
export const requireMembership = (app: FastifyInstance): void => {
  app.addHook('preParsing', (request, _reply, _payload, done) => {
    checkMembership(request)
    done()
  })
}

const checkMembership = (request: FastifyRequest): void => {
  const { identity, routeOptions } = request
  const { keyId } = request.params as { keyId?: string }
  const organizationRef = organizationRefOf(request)
  if (organizationRef === undefined) {
    // Outside organizations, callers change their own keys alone.
    if (isWrite(request)) requireKeyWriteAccess(identity, keyId)
    return
  }
  if (identity.organizationId === undefined) throw organizationNotFound(organizationRef)
  if (routeOptions.config.operation?.access === 'owner') requireOwner(identity)
  else if (isWrite(request)) requireWriteAccess(identity)
}

/**
 * Authorizes again, for the same organization, a request whose turn comes late or whose response lasts: the key may be
 * revoked or the role lowered meanwhile.
 *
 * @throws {ApiError} API_KEY_INVALID, ORGANIZATION_NOT_FOUND, FORM_NOT_FOUND, WRITE_FORBIDDEN, OWNER_REQUIRED
 */
export const reauthorize = async (request: FastifyRequest, authorize: Authorize): Promise<void> => {
  const { organizationId } = request.identity
  const organizationRef = organizationRefOf(request)
  await setCaller(request, authorize, organizationRef ?? organizationId)
  if (request.identity.organizationId !== organizationId) {
    if (organizationRef !== undefined) throw organizationNotFound(organizationRef)
    throw formNotFoundAnywhere((request.params as { formRef: string }).formRef)
  }
  checkMembership(request)
}

const organizationRefOf = ({ params }: FastifyRequest) =>
  (params as { organizationRef?: string }).organizationRef

/** The SHA-256 of the key; undefined for a missing or malformed key. Node joins two headers into one malformed key. */
const keyHashOf = ({ headers }: FastifyRequest): string | undefined => {
  const key = headers['x-api-key']
  return typeof key === 'string' && API_KEY_PATTERN.test(key) ? hash('sha256', key, 'base64url') : undefined
}
