import { ifNoneMatchHolds } from '@fms/aip'
import { NoQuery } from '@fms/contracts'
import { formETag, formNotFound, formToJson } from '@fms/forms-store'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { FormsDeps } from '../deps.ts'
import { FormParams } from './form-params.ts'
import { sendJson } from './send-json.ts'

/** Read a form's current draft (AIP-131); 304 when the caller's copy is current (RFC 9110 If-None-Match). */
export const getForm: FastifyPluginAsyncZod<FormsDeps> = async (app, { forms, publicFormBaseUrl }) => {
  app.get(
    '/organizations/:organizationId/forms/:formRef',
    { schema: { params: FormParams, querystring: NoQuery } },
    async ({ params, headers }, reply) => {
      const form = await forms.get(params)
      if (!form) throw formNotFound(params)
      const etag = formETag(form)
      reply.header('etag', etag)
      if (ifNoneMatchHolds(headers['if-none-match'], etag)) return reply.code(304).send()
      return sendJson(reply, formToJson(form, publicFormBaseUrl))
    },
  )
}
