import { invalidRequest, parseIfMatch } from '@fms/aip'
import { DeleteFormQuery, DeleteFormRequest, DeleteFormResponse } from '@fms/contracts'
import { assertIfMatch, type FormState, formNotFound } from '@fms/forms-store'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { FormsDeps } from '../deps.ts'
import { changeContext } from './change-context.ts'
import { FormParams } from './form-params.ts'

/** Delete a form and its revisions (AIP-135). The query can request a dry run too, because proxies drop bodies. */
export const deleteForm: FastifyPluginAsyncZod<FormsDeps> = async (app, { forms }) => {
  app.delete(
    '/organizations/:organizationId/forms/:formRef',
    {
      schema: {
        params: FormParams,
        querystring: DeleteFormQuery,
        body: DeleteFormRequest,
        response: { 200: DeleteFormResponse },
      },
      config: { parsesEnvelopeOnly: true },
    },
    async (request) => {
      const { params, query, body, headers } = request
      const validateOnly = isDryRun(query, body)
      const ifMatch = parseIfMatch(headers['if-match'])
      const check = (current: FormState) => assertIfMatch(ifMatch, params, current)
      if (validateOnly) {
        const current = await forms.get(params)
        if (!current) throw formNotFound(params)
        check(current)
      } else if (!(await forms.delete(params, check, changeContext(request)))) {
        throw formNotFound(params)
      }
      return {}
    },
  )
}

/** @throws {ApiError} INVALID_REQUEST when body and query disagree: a dry run must never delete. */
const isDryRun = (query: DeleteFormQuery, body: DeleteFormRequest): boolean => {
  const inQuery = query.validateOnly === undefined ? undefined : query.validateOnly === 'true'
  if (inQuery !== undefined && body.validateOnly !== undefined && inQuery !== body.validateOnly) {
    throw invalidRequest([{ field: 'validateOnly', description: 'must be the same in body and query' }])
  }
  return inQuery ?? body.validateOnly ?? false
}
