import { type MaskSchema, readGetQuery } from '@fms/aip'
import { FormOrganization, identityHeader, isPublicId } from '@fms/contracts'
import { flowOf } from '@fms/service-kit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { GatewayDeps } from '../deps.ts'
import { formNotFoundAnywhere, upstreamUnavailable } from '../errors.ts'
import { acquireOrRejectLater } from '../limits/concurrency-limits.ts'
import { textOf } from '../upstream/upstream.ts'
import { setCaller } from './authenticate.ts'

/**
 * Finds the organization of a form whose path has only the public id (AIP-159), and authorizes the caller there
 * (decision 24). Register it after the hooks that authenticate and limit.
 *
 * @param members of the resource, for `readMask`.
 */
export const resolveOrganization = (app: FastifyInstance, deps: GatewayDeps, members: MaskSchema): void => {
  app.addHook('preHandler', (request, reply) =>
    request.permit.holdDuring(() => resolve(request, reply, deps, members)),
  )
}

const resolve = async (
  request: FastifyRequest,
  reply: FastifyReply,
  deps: GatewayDeps,
  members: MaskSchema,
): Promise<void> => {
  // Validates the query before the form is looked up: 400 comes before 404 in the order of checks.
  readGetQuery(request.query, members)
  const { formRef } = request.params as { formRef: string }
  const found = isPublicId(formRef) ? await findOrganization(formRef, request, reply, deps) : undefined
  if (found === undefined) throw formNotFoundAnywhere(formRef)
  await setCaller(request, deps.authorize, found)
  const { organizationId } = request.identity
  if (organizationId === undefined) throw formNotFoundAnywhere(formRef)
  request.permit.defer(await acquireOrRejectLater(() => deps.limits.organizations.acquire(organizationId)))
}

/** The organization of a public id, or undefined, in the caller's turn. @throws {ApiError} UPSTREAM_UNAVAILABLE */
const findOrganization = async (
  publicId: string,
  { id, identity }: FastifyRequest,
  reply: FastifyReply,
  { forms, queues, token }: GatewayDeps,
): Promise<string | undefined> => {
  const lookUp = () =>
    forms.request({
      method: 'GET',
      path: `/internal/forms/${publicId}/organization`,
      headers: { 'x-request-id': id, [identityHeader]: token() },
    })
  const response = await queues.forms.admit({ flow: flowOf(identity), reply }, lookUp)
  if (!response) return undefined
  const { statusCode } = response
  const text = textOf(response)
  if (statusCode !== 200)
    throw upstreamUnavailable(
      forms.name,
      new Error(`forms responds to the look-up of an organization with ${statusCode}`),
    )
  return FormOrganization.parse(JSON.parse(text)).organizationId
}
