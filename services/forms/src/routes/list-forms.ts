import type { FilterFields } from '@fms/aip'
import { FormType, ListFormsResponse } from '@fms/contracts'
import { formOrderFields, toForm } from '@fms/forms-store'
import { readListQuery } from '@fms/service-kit'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { FormsDeps } from '../app.ts'
import { OrganizationParams } from './form-params.ts'

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
    { schema: { params: OrganizationParams, response: { 200: ListFormsResponse } } },
    async ({ params: { organizationId }, query }) => {
      const { nextPageToken, ...list } = readListQuery(query, {
        filterFields,
        orderFields: formOrderFields,
        scope: ['forms', organizationId],
        pageTokens,
      })
      const page = await forms.list({ organizationId, ...list })
      return {
        nextPageToken: nextPageToken(page.next),
        totalSize: page.totalSize,
        forms: page.forms.map((form) => toForm(form, publicFormBaseUrl)),
      }
    },
  )
}
