import { FormOwner, identityHeader } from '@fms/contracts'
import { flowOf } from '@fms/service-kit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Door } from '../door/door.ts'
import { upstreamUnavailable } from '../errors.ts'
import type { Upstream } from '../upstream/upstream.ts'

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

/** Requests the owner from forms, under the gateway's own identity and in the caller's turn. */
export const createFindFormOwner = (forms: Upstream, door: Door, token: () => string): FindFormOwner => {
  return async (publicId, { id, identity }, reply) => {
    const lookUp = () =>
      forms.request({
        method: 'GET',
        path: `/internal/forms/${publicId}/owner`,
        headers: { 'x-request-id': id, [identityHeader]: token() },
      })
    const response = await door.admit({ flow: flowOf(identity), caller: reply }, lookUp)
    if (!response) return undefined
    const { statusCode, body } = response
    if (statusCode !== 200)
      throw upstreamUnavailable(
        forms.name,
        new Error(`forms responds to the owner look-up with ${statusCode}`),
      )
    return FormOwner.parse(JSON.parse(String(body))).organizationId
  }
}
