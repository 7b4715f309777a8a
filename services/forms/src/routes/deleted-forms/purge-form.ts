import { parseIfMatch } from '@fms/aip'
import { DeleteFormQuery, DeleteFormRequest, EmptyResponse } from '@fms/contracts'
import { assertIfMatch, deletedFormNotFound, type FormMetadata } from '@fms/forms-store'
import { type AddRoute, deleteOptions, requireOwner } from '@fms/service-kit'
import type { FormsDeps } from '../../deps.ts'
import { changeContext } from '../../requests/change-context.ts'
import { FormParams } from '../form-params.ts'

/** Purge a deleted form before its time: it is gone for good, and its ids are free (compare AIP-165). For owners. */
export const purgeForm: AddRoute<FormsDeps> = (app, { forms, drafts }) => {
  app.delete(
    '/organizations/:organizationId/deletedForms/:formRef',
    {
      schema: {
        params: FormParams,
        querystring: DeleteFormQuery,
        body: DeleteFormRequest,
        response: { 200: EmptyResponse },
      },
      onRequest: ({ identity }, _reply, done) => {
        requireOwner(identity)
        done()
      },
    },
    async (request) => {
      const { params, query, body, headers } = request
      const options = deleteOptions(query, body)
      const ifMatch = parseIfMatch(headers['if-match'])
      const check = (deleted: FormMetadata) => assertIfMatch(ifMatch, params, deleted)
      const context = await changeContext(drafts, 'purge', request, options)
      if (!(await forms.purge(params, check, context))) throw deletedFormNotFound(params)
      return {}
    },
  )
}
