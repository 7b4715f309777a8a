import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { FormsDeps } from '../app.ts'
import { OrganizationParams } from './form-params.ts'
import { listAnswer, toListQuery } from './list-answer.ts'
import { sendJson } from './send-json.ts'

/** List an organization's forms (AIP-132), most recently updated first unless `orderBy` says otherwise. */
export const listForms: FastifyPluginAsyncZod<FormsDeps> = async (app, deps) => {
  app.get(
    '/organizations/:organizationId/forms',
    { schema: { params: OrganizationParams } },
    async ({ params: { organizationId }, query }, reply) =>
      sendJson(reply, await listAnswer(toListQuery(organizationId, query, deps), deps)),
  )
}
