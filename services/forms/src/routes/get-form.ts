import { NoQuery } from '@fms/contracts'
import { formNotFound } from '@fms/forms-store'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { FormsDeps } from '../app.ts'
import { formAnswer } from './form-answer.ts'
import { FormParams } from './form-params.ts'
import { sendJson } from './send-json.ts'

/** Where a get is in the log, however it came. */
export const getFormRoute = '/organizations/:organizationId/forms/:formRef'

/** Read a form's current draft (AIP-131); 304 when the caller's copy is current (RFC 9110 If-None-Match). */
export const getForm: FastifyPluginAsyncZod<FormsDeps> = async (app, { forms, publicFormBaseUrl }) => {
  app.get(
    getFormRoute,
    { schema: { params: FormParams, querystring: NoQuery } },
    async ({ params, headers }, reply) => {
      const form = await forms.getText(params)
      if (!form) throw formNotFound(params)
      const { status, etag, body } = formAnswer(form, headers['if-none-match'], publicFormBaseUrl)
      reply.code(status).header('etag', etag)
      return status === 304 ? reply.send() : sendJson(reply, body)
    },
  )
}
