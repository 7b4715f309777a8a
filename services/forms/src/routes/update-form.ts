import { parseIfMatch } from '@fms/aip'
import { expensiveHeader, NoQuery, UpdateFormRequest } from '@fms/contracts'
import { assertIfMatch, formNotFound, type StoredForm } from '@fms/forms-store'
import { type AddRoute, flowOf, formBodyBytes } from '@fms/service-kit'
import type { FormsDeps } from '../deps.ts'
import { changedForm } from '../domain/new-form.ts'
import { draftPatch } from '../drafts/draft-writer.ts'
import { changeContext } from '../requests/change-context.ts'
import { FormParams } from './form-params.ts'
import { sendForm } from './send-form.ts'

/** Length of a draft, in characters, up to which its patches are ordinary. Those of longer ones occupy a worker thread. */
const maxOrdinaryLength = 64 * 1024

/** Apply a merge patch to a form's draft (RFC 7396, AIP-134). Respondents see nothing of it before the next publish. */
export const updateForm: AddRoute<FormsDeps> = (app, { forms, drafts, publicFormBaseUrl, now }) => {
  app.patch(
    '/organizations/:organizationId/forms/:formRef',
    {
      schema: { params: FormParams, querystring: NoQuery, body: UpdateFormRequest },
      bodyLimit: formBodyBytes,
    },
    async (request, reply) => {
      const { params, body, headers } = request
      const ifMatch = parseIfMatch(headers['if-match'])
      const change = async (current: StoredForm) => {
        if (current.draftJson.length > maxOrdinaryLength) reply.header(expensiveHeader, 'true')
        assertIfMatch(ifMatch, params, current)
        const draft = await drafts.patch(current.draftJson, draftPatch(request), flowOf(request.identity))
        return draft ? changedForm(current, draft, now()) : current
      }
      const context = await changeContext(drafts, 'update', request, body)
      const updated = await forms.update(params, change, context)
      if (!updated) throw formNotFound(params)
      if (!body.validateOnly && updated.draftJson.length <= maxOrdinaryLength)
        reply.removeHeader(expensiveHeader)
      return sendForm(reply, updated, publicFormBaseUrl, body)
    },
  )
}
