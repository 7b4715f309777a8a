import { parseIfMatch } from '@fms/aip'
import { DeleteFormQuery, DeleteFormRequest, EmptyResponse } from '@fms/contracts'
import { assertIfMatch, type FormMetadata, formNotFound } from '@fms/forms-store'
import { type AddRoute, deleteOptions } from '@fms/service-kit'
import type { FormsDeps } from '../deps.ts'
import { changeContext } from '../requests/change-context.ts'
import { FormParams } from './form-params.ts'

/** Delete a form and its revisions (AIP-135). They can be restored until the form is purged. */
export const deleteForm: AddRoute<FormsDeps> = (app, { forms, drafts }) => {
  app.delete(
    '/organizations/:organizationId/forms/:formRef',
    {
      schema: {
        params: FormParams,
        querystring: DeleteFormQuery,
        body: DeleteFormRequest,
        response: { 200: EmptyResponse },
      },
    },
    async (request) => {
      const { params, query, body, headers } = request
      const options = deleteOptions(query, body)
      const ifMatch = parseIfMatch(headers['if-match'])
      const check = (current: FormMetadata) => assertIfMatch(ifMatch, params, current)
      const context = await changeContext(drafts, 'delete', request, options)
      if (!(await forms.delete(params, check, context))) throw formNotFound(params)
      return {}
    },
  )
}
