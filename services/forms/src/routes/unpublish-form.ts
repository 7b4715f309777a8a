import { parseIfMatch } from '@fms/aip'
import { NoQuery, UnpublishFormRequest } from '@fms/contracts'
import { assertIfMatch, type FormMetadata, formNotFound } from '@fms/forms-store'
import type { AddRoute } from '@fms/service-kit'
import type { FormsDeps } from '../deps.ts'
import { changeContext } from '../requests/change-context.ts'
import { FormParams } from './form-params.ts'
import { sendForm } from './send-form.ts'

/** Take a form down: its revisions stay, and none is live until the next publish. Works without NATS. */
export const unpublishForm: AddRoute<FormsDeps> = (app, { forms, drafts, publicFormBaseUrl }) => {
  app.post(
    '/organizations/:organizationId/forms/:formRef/unpublish',
    { schema: { params: FormParams, querystring: NoQuery, body: UnpublishFormRequest } },
    async (request, reply) => {
      const { params, body, headers } = request
      const ifMatch = parseIfMatch(headers['if-match'])
      const check = (current: FormMetadata) => assertIfMatch(ifMatch, params, current)
      const context = await changeContext(drafts, 'unpublish', request, body)
      const form = await forms.unpublish(params, body.note, check, context)
      if (!form) throw formNotFound(params)
      return sendForm(reply, form, publicFormBaseUrl, body)
    },
  )
}
