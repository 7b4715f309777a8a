import { CheckFormRequest, NoQuery } from '@fms/contracts'
import { type AddRoute, flowOf, formBodyBytes } from '@fms/service-kit'
import type { FormsDeps } from '../deps.ts'
import { draftPatch } from '../drafts/draft-writer.ts'
import { OrganizationParams } from './form-params.ts'
import { sendJson } from './send-json.ts'

/** Check a form that need not exist: what a publish of it would report, and warnings. Viewers may do so, too. */
export const checkForm: AddRoute<FormsDeps> = (app, { drafts }) => {
  app.post(
    '/organizations/:organizationId/forms/check',
    {
      schema: { params: OrganizationParams, querystring: NoQuery, body: CheckFormRequest },
      bodyLimit: formBodyBytes,
      config: { isRead: true },
    },
    async (request, reply) =>
      sendJson(reply, await drafts.check(draftPatch(request), flowOf(request.identity))),
  )
}
