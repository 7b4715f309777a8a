import { type FilterFields, readListQuery } from '@fms/aip'
import { FormType } from '@fms/contracts'
import { formOrderFields, formToJsonParts } from '@fms/forms-store'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { FormsDeps } from '../deps.ts'
import { callerSignal } from './caller-signal.ts'
import { OrganizationParams } from './form-params.ts'
import { sendPage } from './send-json.ts'

/** Fields that a filter can name (AIP-160), and the field that `search()` and bare terms search. */
const filterFields: FilterFields = {
  fields: {
    name: { type: 'string' },
    publicId: { type: 'string' },
    type: { type: 'enum', values: FormType.options },
    createTime: { type: 'time' },
    updateTime: { type: 'time' },
  },
  search: 'name',
}

/** List an organization's forms (AIP-132), most recently updated first unless `orderBy` says otherwise. */
export const listForms: FastifyPluginAsyncZod<FormsDeps> = async (
  app,
  { forms, publicFormBaseUrl, pageTokens },
) => {
  app.get(
    '/organizations/:organizationId/forms',
    { schema: { params: OrganizationParams } },
    async ({ params: { organizationId }, query, identity }, reply) => {
      const scope = ['forms', organizationId]
      const options = { filterFields, orderFields: formOrderFields, scope, pageTokens }
      const { nextPageToken, ...list } = readListQuery(query, options)
      const page = await forms.list(
        { organizationId, ...list },
        { signal: callerSignal(reply), caller: identity.userId },
      )
      const items = page.forms.map((form) => formToJsonParts(form, publicFormBaseUrl))
      const end = { nextPageToken: nextPageToken(page.next), totalSize: page.totalSize }
      return sendPage(reply, end, ['forms', items])
    },
  )
}
