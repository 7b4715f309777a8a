import { CreateFormRequest, type FormPath, NoQuery } from '@fms/contracts'
import { type FormsStore, formETag, formIdTaken, formToJson } from '@fms/forms-store'
import { type AddRoute, flowOf, formBodyBytes } from '@fms/service-kit'
import type { FormsDeps } from '../deps.ts'
import { newForm, unknownIds } from '../domain/new-form.ts'
import { draftPatch } from '../drafts/draft-writer.ts'
import { OrganizationParams } from './form-params.ts'
import { sendJson } from './send-json.ts'

/** Create a form as a draft (AIP-133). Omitted fields get their defaults. The client can choose the form's id. */
export const createForm: AddRoute<FormsDeps> = (app, { forms, drafts, contexts, publicFormBaseUrl, now }) => {
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
      const context = await contexts.create('create', request, body)
      const creating = drafts.create(draftPatch(request), flowOf(request.identity))
      const draft = await creating.catch(async (error) => {
        // An earlier request with this requestId takes precedence over the rules.
        await forms.checkRequest(params, context.request)
        throw error
      })
      if (body.validateOnly) {
        await forms.checkRequest(params, context.request)
        if (formId !== undefined) await assertFree(forms, { organizationId, formId })
        await forms.checkQuota(organizationId, { forms: 1, bytes: Buffer.byteLength(draft.draftJson) })
        const form = { ...newForm(organizationId, draft, now()), ...unknownIds, ...(formId && { formId }) }
        return sendJson(reply, formToJson(form, publicFormBaseUrl))
      }
      const create = () =>
        forms.create(newForm(organizationId, draft, now(), formId), context, {
          idChosenByClient: formId !== undefined,
        })
      let form = await create()
      while (!form) form = await create()
      return sendJson(reply.header('etag', formETag(form)), formToJson(form, publicFormBaseUrl))
    },
  )
}

/** @throws {ApiError} FORM_ID_TAKEN, as the create would. */
const assertFree = async (forms: FormsStore, form: FormPath): Promise<void> => {
  const ref = { organizationId: form.organizationId, formRef: form.formId }
  if (await forms.getState(ref)) throw formIdTaken(form, false)
  if (await forms.getDeleted(ref)) throw formIdTaken(form, true)
}
