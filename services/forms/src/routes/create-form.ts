import { CreateFormRequest, NoQuery } from '@fms/contracts'
import { formETag, formToJson } from '@fms/forms-store'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { FormsDeps } from '../deps.ts'
import { newForm, unknownIds } from '../domain/new-form.ts'
import { changeContext } from './change-context.ts'
import { draftCaller, draftPatch } from './draft-request.ts'
import { OrganizationParams } from './form-params.ts'
import { sendJson } from './send-json.ts'

/** Create a form as a draft (AIP-133). Whatever the request leaves out takes its default. */
export const createForm: FastifyPluginAsyncZod<FormsDeps> = async (
  app,
  { forms, drafts, publicFormBaseUrl, now },
) => {
  app.post(
    '/organizations/:organizationId/forms',
    {
      schema: {
        params: OrganizationParams,
        querystring: NoQuery,
        body: CreateFormRequest,
      },
      config: { parsesEnvelopeOnly: true },
    },
    async (request, reply) => {
      const { organizationId } = request.params
      const draft = await drafts.create(draftPatch(request), draftCaller(request, reply))
      if (request.body.validateOnly) {
        await forms.checkQuota(organizationId, { forms: 1, bytes: Buffer.byteLength(draft.draftJson) })
        const form = newForm(organizationId, draft, now(), unknownIds)
        return sendJson(reply, formToJson(form, publicFormBaseUrl))
      }
      let form = newForm(organizationId, draft, now())
      const context = changeContext(request)
      while (!(await forms.create(form, context))) form = newForm(organizationId, draft, now())
      return sendJson(reply.header('etag', formETag(form)), formToJson(form, publicFormBaseUrl))
    },
  )
}
