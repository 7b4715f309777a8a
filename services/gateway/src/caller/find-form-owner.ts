import { FormOwner, identityHeader, type ServiceIdentity } from '@fms/contracts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { upstreamUnavailable } from '../errors.ts'
import { circuitKeyOf } from '../upstream/forward.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { createCachedToken } from './cached-token.ts'

/**
 * Finds the organization of the form with a public id.
 *
 * @param publicId 10 letters and digits.
 * @returns the organization's id; undefined when there is no such form.
 * @throws {ApiError} UPSTREAM_UNAVAILABLE, OVERLOADED.
 */
export type FindFormOwner = (
  publicId: string,
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<string | undefined>

/** Requests the owner from forms, under the gateway's own identity and through the caller's circuit. */
export const createFindFormOwner = (
  forms: Upstream,
  sign: (identity: ServiceIdentity) => string,
): FindFormOwner => {
  const token = createCachedToken(() => sign({ service: 'gateway' }))
  return async (publicId, { id, identity }, reply) => {
    const { statusCode, body } = await forms.request({
      method: 'GET',
      path: `/internal/forms/${publicId}/owner`,
      headers: { 'x-request-id': id, [identityHeader]: token() },
      circuitKey: circuitKeyOf(identity),
      caller: reply.raw,
    })
    if (statusCode !== 200)
      throw upstreamUnavailable(
        forms.name,
        new Error(`forms responds to the owner look-up with ${statusCode}`),
      )
    return FormOwner.parse(JSON.parse(String(body))).organizationId
  }
}
