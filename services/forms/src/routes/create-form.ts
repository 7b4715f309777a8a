import type { JsonObject } from '@fms/aip'
import { CreateFormRequest, NoQuery } from '@fms/contracts'
import { formETag, renderForm, serializeDraft, toForm } from '@fms/forms-store'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { FormsDeps } from '../app.ts'
import { newForm, unknownIds } from '../domain/new-form.ts'
import { newDraft } from '../domain/write-draft.ts'
import { OrganizationParams } from './form-params.ts'
import { sendJson } from './send-json.ts'

/** Create a form as a draft (AIP-133). Whatever the request leaves out takes its default. */
export const createForm: FastifyPluginAsyncZod<FormsDeps> = async (
  app,
  { forms, publicFormBaseUrl, now },
) => {
  app.post(
    '/organizations/:organizationId/forms',
    {
      schema: {
        params: OrganizationParams,
        querystring: NoQuery,
        body: CreateFormRequest,
      },
    },
    async ({ params: { organizationId }, body }, reply) => {
      const draft = newDraft(body.form as JsonObject)
      if (body.validateOnly) {
        const bytes = Buffer.byteLength(JSON.stringify(draft))
        await forms.checkQuota(organizationId, { forms: 1, bytes })
        return {
          ...toForm(newForm(organizationId, draft, now(), unknownIds), publicFormBaseUrl),
          publicUrl: '',
        }
      }
      const make = () => serializeDraft(newForm(organizationId, draft, now()))
      let form = make()
      while (!(await forms.create(form))) form = make()
      return sendJson(reply.header('etag', formETag(form)), renderForm(form, publicFormBaseUrl))
    },
  )
}
