import { ifNoneMatchHolds, readGetQuery } from '@fms/aip'
import { formETag, formNotFound, formToJson } from '@fms/forms-store'
import type { AddRoute } from '@fms/service-kit'
import type { FormsDeps } from '../deps.ts'
import { FormParams } from './form-params.ts'
import { formMembers } from './resource-members.ts'
import { sendJson } from './send-json.ts'

/** Read a form's draft, or members of it (AIP-131, AIP-157); 304 for a current copy (RFC 9110 If-None-Match): decision 32. */
export const getForm: AddRoute<FormsDeps> = (app, { forms, publicFormBaseUrl }) => {
  app.get(
    '/organizations/:organizationId/forms/:formRef',
    { schema: { params: FormParams } },
    async ({ params, query, headers }, reply) => {
      const mask = readGetQuery(query, formMembers)
      const form = await forms.get(params)
      if (!form) throw formNotFound(params)
      const etag = formETag(form)
      reply.header('etag', etag)
      if (ifNoneMatchHolds(headers['if-none-match'], etag)) return reply.code(304).send()
      return sendJson(reply, formToJson(form, publicFormBaseUrl, mask))
    },
  )
}
