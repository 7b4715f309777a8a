import { ifNoneMatchHolds } from '@fms/aip'
import { Form, NoQuery } from '@fms/contracts'
import { formETag, formNotFound, toForm } from '@fms/forms-store'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { FormsDeps } from '../app.ts'
import { FormParams } from './form-params.ts'

/** Read a form's current draft (AIP-131); 304 when the caller's copy is current (RFC 9110 If-None-Match). */
export const getForm: FastifyPluginAsyncZod<FormsDeps> = async (app, { forms, publicFormBaseUrl }) => {
  app.get(
    '/organizations/:organizationId/forms/:formRef',
    { schema: { params: FormParams, querystring: NoQuery, response: { 200: Form, 304: z.null() } } },
    async ({ params, headers }, reply) => {
      const form = await forms.get(params)
      if (!form) throw formNotFound(params)
      const etag = formETag(form)
      reply.header('etag', etag)
      if (ifNoneMatchHolds(headers['if-none-match'], etag)) return reply.code(304).send(null)
      return toForm(form, publicFormBaseUrl)
    },
  )
}
