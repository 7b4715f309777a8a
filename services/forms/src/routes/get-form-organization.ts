import { FormOrganization, NoQuery } from '@fms/contracts'
import type { AddRoute } from '@fms/service-kit'
import { z } from 'zod'
import type { FormsDeps } from '../deps.ts'

const Params = z.object({ publicId: z.string() })

/** Internal: return the organization that has a public id. The gateway then authorizes its caller for it. */
export const getFormOrganization: AddRoute<FormsDeps> = (app, { forms }) => {
  app.get(
    '/internal/forms/:publicId/organization',
    { schema: { params: Params, querystring: NoQuery, response: { 200: FormOrganization } } },
    async ({ params: { publicId } }) => ({ organizationId: await forms.findOrganizationOf(publicId) }),
  )
}
