import { CreateFormRequest, NoQuery } from '@fms/contracts'
import { type AddRoute, flowOf, formBodyBytes } from '@fms/service-kit'
import type { FormsDeps } from '../deps.ts'
import { newForm, unknownIds } from '../domain/new-form.ts'
import { draftPatch } from '../drafts/draft-writer.ts'
import { changeContext } from '../requests/change-context.ts'
import { OrganizationParams } from './form-params.ts'
import { sendForm } from './send-form.ts'

/** Create a form as a draft (AIP-133). Omitted fields get their defaults. The client can choose the form's id. */
export const createForm: AddRoute<FormsDeps> = (app, { forms, drafts, publicFormBaseUrl, now }) => {
  app.post(
    '/organizations/:organizationId/forms',
    {
      schema: { params: OrganizationParams, querystring: NoQuery, body: CreateFormRequest },
      bodyLimit: formBodyBytes,
    },
    async (request, reply) => {
      const { params, body } = request
      const { organizationId } = params
      const { formId } = body
      const context = await changeContext(drafts, 'create', request, body)
      const creating = drafts.create(draftPatch(request), flowOf(request.identity))
      const draft = await creating.catch(async (error) => {
        // An earlier request with this requestId takes precedence over the rules.
        await forms.checkRequest(params, context.request)
        throw error
      })
      const create = () =>
        forms.create(newForm(organizationId, draft, now(), formId), context, {
          idChosenByClient: formId !== undefined,
        })
      let form = await create()
      while (!form) form = await create()
      if (body.validateOnly) form = { ...form, ...unknownIds, ...(formId && { formId }) }
      return sendForm(reply, form, publicFormBaseUrl, body)
    },
  )
}
