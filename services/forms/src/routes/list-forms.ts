import { formToJsonParts } from '@fms/forms-store'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { FormsDeps } from '../app.ts'
import { callerSignal } from './caller-signal.ts'
import { OrganizationParams } from './form-params.ts'
import { toListQuery } from './list-query.ts'
import { sendPage } from './send-json.ts'

/** List an organization's forms (AIP-132), most recently updated first unless `orderBy` says otherwise. */
export const listForms: FastifyPluginAsyncZod<FormsDeps> = async (app, deps) => {
  app.get(
    '/organizations/:organizationId/forms',
    { schema: { params: OrganizationParams } },
    async ({ params: { organizationId }, query, identity }, reply) => {
      const { nextPageToken, ...list } = toListQuery(organizationId, query, deps)
      const { forms, next, totalSize } = await deps.forms.list(list, {
        signal: callerSignal(reply),
        caller: identity.userId,
      })
      const items = forms.map((form) => formToJsonParts(form, deps.publicFormBaseUrl))
      return sendPage(reply, { nextPageToken: nextPageToken(next), totalSize }, ['forms', items])
    },
  )
}
