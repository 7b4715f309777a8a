import type { FilterFields } from '@fms/aip'
import { FormType } from '@fms/contracts'
import { formOrderFields, renderForm } from '@fms/forms-store'
import { readListQuery } from '@fms/service-kit'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { FormsDeps } from '../app.ts'
import { OrganizationParams } from './form-params.ts'
import { sendJson } from './send-json.ts'

/** What a filter may name (AIP-160), and where `search()` and bare terms look. */
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
    async ({ params: { organizationId }, query }, reply) => {
      const { nextPageToken, ...list } = readListQuery(query, {
        filterFields,
        orderFields: formOrderFields,
        scope: ['forms', organizationId],
        pageTokens,
      })
      const page = await forms.list({ organizationId, ...list })
      const rest = JSON.stringify({ nextPageToken: nextPageToken(page.next), totalSize: page.totalSize })
      const items = page.forms.map((form) => renderForm(form, publicFormBaseUrl))
      return sendJson(reply, `${rest.slice(0, -1)},"forms":[${items.join(',')}]}`)
    },
  )
}
