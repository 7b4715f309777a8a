import { type JsonObject, parseIfMatch } from '@fms/aip'
import { NoQuery, UpdateFormRequest } from '@fms/contracts'
import {
  demandIfMatch,
  type FormText,
  formETag,
  formNotFound,
  parseDraft,
  renderForm,
  serializeDraft,
} from '@fms/forms-store'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { FormsDeps } from '../app.ts'
import { patchForm } from '../domain/write-draft.ts'
import { FormParams } from './form-params.ts'
import { sendJson } from './send-json.ts'

/** Apply a merge patch to a form's draft (RFC 7396, AIP-134). Respondents see nothing of it before the next publish. */
export const updateForm: FastifyPluginAsyncZod<FormsDeps> = async (
  app,
  { forms, publicFormBaseUrl, now },
) => {
  app.patch(
    '/organizations/:organizationId/forms/:formRef',
    {
      schema: { params: FormParams, querystring: NoQuery, body: UpdateFormRequest },
    },
    async ({ params, body, headers }, reply) => {
      const ifMatch = parseIfMatch(headers['if-match'])
      const change = (current: FormText) => {
        demandIfMatch(ifMatch, params, current)
        const stored = parseDraft(current)
        const patched = patchForm(stored, body.form as JsonObject, now())
        return patched === stored ? current : serializeDraft(patched)
      }
      if (body.validateOnly) {
        const current = await forms.getText(params)
        if (!current) throw formNotFound(params)
        const changed = change(current)
        const bytes = Buffer.byteLength(changed.draftJson) - Buffer.byteLength(current.draftJson)
        await forms.checkQuota(params.organizationId, { forms: 0, bytes })
        return sendJson(reply, renderForm(changed, publicFormBaseUrl))
      }
      const updated = await forms.update(params, change)
      if (!updated) throw formNotFound(params)
      return sendJson(reply.header('etag', formETag(updated)), renderForm(updated, publicFormBaseUrl))
    },
  )
}
