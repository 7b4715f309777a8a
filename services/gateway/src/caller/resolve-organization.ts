import { type MaskMembers, readGetQuery } from '@fms/aip'
import { isPublicId } from '@fms/contracts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { formNotFoundAnywhere } from '../errors.ts'
import type { ConcurrencyLimits } from '../limits/concurrency-limits.ts'
import { setCaller } from './authenticate.ts'
import type { Authorize } from './authorization-cache.ts'
import type { FindFormOwner } from './find-form-owner.ts'

export interface ResolveOrganizationOptions {
  findOwner: FindFormOwner
  authorize: Authorize
  limits: ConcurrencyLimits
  /** Of the resource that the route reads, for its `readMask`. */
  members: MaskMembers
}

/**
 * Finds the organization of a form whose path has only the public id (AIP-159), and authorizes the caller for that
 * organization. Register it after the hooks that authenticate and limit the caller.
 *
 * See docs/decisions/0024.
 */
export const resolveOrganization = (app: FastifyInstance, options: ResolveOrganizationOptions): void => {
  app.addHook('preHandler', async (request, reply) => {
    // Keeps the permit until the look-up ends, also for a caller who disconnects before.
    request.permit.retain()
    try {
      await resolve(request, reply, options)
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
  { findOwner, authorize, limits, members }: ResolveOrganizationOptions,
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
