import { type MaskMembers, readGetQuery } from '@fms/aip'
import { isPublicId } from '@fms/contracts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { GatewayDeps } from '../deps.ts'
import { formNotFoundAnywhere } from '../errors.ts'
import { setCaller } from './authenticate.ts'

/**
 * Finds the organization of a form whose path has only the public id (AIP-159), and authorizes the caller for that
 * organization. Register it after the hooks that authenticate and limit the caller.
 *
 * See docs/decisions/0024.
 *
 * @param members of the resource that the route reads, for its `readMask`.
 */
export const resolveOrganization = (app: FastifyInstance, deps: GatewayDeps, members: MaskMembers): void => {
  app.addHook('preHandler', async (request, reply) => {
    // Keeps the permit until the look-up ends, also for a caller who disconnects before.
    request.permit.retain()
    try {
      await resolve(request, reply, deps, members)
    } catch (error) {
      if (!reply.raw.destroyed) throw error
      reply.hijack()
    } finally {
      request.permit.release()
    }
  })
}

const resolve = async (
  request: FastifyRequest,
  reply: FastifyReply,
  { findOwner, authorize, limits }: GatewayDeps,
  members: MaskMembers,
): Promise<void> => {
  // Validates the query before the form is looked up: 400 comes before 404 in the order of checks.
  readGetQuery(request.query, members)
  const { formRef } = request.params as { formRef: string }
  const owner = isPublicId(formRef) ? await findOwner(formRef, request, reply) : undefined
  if (owner === undefined) throw formNotFoundAnywhere(formRef)
  await setCaller(request, authorize, owner)
  const { organizationId } = request.identity
  if (organizationId === undefined) throw formNotFoundAnywhere(formRef)
  request.permit.acquire(limits.organizations, organizationId)
}
