import { hash } from 'node:crypto'
import { organizationNotFound, refuseReaders } from '@fms/service-kit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Authorize, Caller } from './authorizations.ts'
import { apiKeyInvalid } from './errors.ts'

/** `fms_` and the base64url text of 32 bytes. */
const apiKey = /^fms_[A-Za-z0-9_-]{43}$/

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller
  }
}

/** In this order: who is calling, their place in the organization that the path names, and whether they may write. */
export const authenticate = (app: FastifyInstance, authorize: Authorize): void => {
  app.decorateRequest('caller')
  app.addHook('onRequest', async (request) => {
    const { organizationRef } = request.params as { organizationRef?: string }
    const caller = await authorize(keyHashOf(request), organizationRef, request.id)
    if (!caller) throw apiKeyInvalid()
    request.caller = caller
    request.identity = caller.identity
    if (organizationRef === undefined) return
    if (caller.identity.organizationId === undefined) throw organizationNotFound(organizationRef)
    if (request.method !== 'GET' && request.method !== 'HEAD') refuseReaders(caller.identity)
  })
}

/** Of two keys Node makes one text, which is none. */
const keyHashOf = ({ headers }: FastifyRequest): string => {
  const key = headers['x-api-key']
  if (typeof key !== 'string' || !apiKey.test(key)) throw apiKeyInvalid()
  return hash('sha256', key, 'base64url')
}
