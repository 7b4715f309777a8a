import { invalidRequest, toFieldViolations } from '@fms/aip'
import { isPublicId, NoQuery } from '@fms/contracts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { formNotFoundAnywhere } from '../errors.ts'
import type { ConcurrencyLimits } from '../limits/concurrency-limits.ts'
import { nameCaller } from './authenticate.ts'
import type { Authorize } from './authorization-cache.ts'
import type { FindFormOwner } from './find-form-owner.ts'

export interface ResolveOrganizationOptions {
  findOwner: FindFormOwner
  authorize: Authorize
  limits: ConcurrencyLimits
}

/**
 * Finds the organization of a form that the path names by its public id alone (AIP-159), and authorizes the caller for
 * it: docs/decisions/0024-a-form-by-its-public-id-alone.md. Behind the hooks that authenticate and limit the caller.
 */
export const resolveOrganization = (app: FastifyInstance, options: ResolveOrganizationOptions): void => {
  app.addHook('preHandler', async (request, reply) => {
    // Until the caller has the response, or nothing is left to be done for a caller who has gone.
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
  { findOwner, authorize, limits }: ResolveOrganizationOptions,
): Promise<void> => {
  demandNoQuery(request)
  const { formRef } = request.params as { formRef: string }
  const owner = isPublicId(formRef) ? await findOwner(formRef, request, reply) : undefined
  if (owner === undefined) throw formNotFoundAnywhere(formRef)
  await nameCaller(request, authorize, owner)
  const { organizationId } = request.identity
  if (organizationId === undefined) throw formNotFoundAnywhere(formRef)
  request.permit.acquire(limits.organizations, organizationId)
}

/** Before the form is looked up, which comes later in the order of checks. */
const demandNoQuery = ({ query }: FastifyRequest): void => {
  const { error } = NoQuery.safeParse(query)
  if (error) throw invalidRequest(toFieldViolations(error))
}
