import { parseIfMatch } from '@fms/aip'
import { NoQuery, UndeleteFormRequest } from '@fms/contracts'
import { assertIfMatch, deletedFormNotFound, type FormMetadata } from '@fms/forms-store'
import type { AddRoute } from '@fms/service-kit'
import type { FormsDeps } from '../../deps.ts'
import { changeContext } from '../../requests/change-context.ts'
import { FormParams } from '../form-params.ts'
import { sendForm } from '../send-form.ts'

/** Restore a deleted form as it was, with its ids and revisions (AIP-164). */
export const undeleteForm: AddRoute<FormsDeps> = (app, { forms, drafts, publicFormBaseUrl }) => {
  app.post(
    '/organizations/:organizationId/deletedForms/:formRef/undelete',
    { schema: { params: FormParams, querystring: NoQuery, body: UndeleteFormRequest } },
    async (request, reply) => {
      const { params, body, headers } = request
      const ifMatch = parseIfMatch(headers['if-match'])
      const check = (deleted: FormMetadata) => assertIfMatch(ifMatch, params, deleted)
      const context = await changeContext(drafts, 'undelete', request, body)
      const form = await forms.undelete(params, check, context)
      if (!form) throw deletedFormNotFound(params)
      return sendForm(reply, form, publicFormBaseUrl, body)
    },
  )
}
