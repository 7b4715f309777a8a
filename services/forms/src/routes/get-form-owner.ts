import { FormOwner, NoQuery } from '@fms/contracts'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { FormsDeps } from '../app.ts'

const Params = z.object({ publicId: z.string() })

/** Name the organization of a public id to the gateway, which authorizes its caller for that organization. */
export const getFormOwner: FastifyPluginAsyncZod<FormsDeps> = async (app, { forms }) => {
  app.get(
    '/internal/forms/:publicId/owner',
    { schema: { params: Params, querystring: NoQuery, response: { 200: FormOwner } } },
    async ({ params: { publicId } }) => ({ organizationId: await forms.findOrganizationOf(publicId) }),
  )
}
