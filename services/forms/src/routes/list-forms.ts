import { type FilterFields, type ReadMask, readListQuery } from '@fms/aip'
import { FormType, ListFormsQuery } from '@fms/contracts'
import {
  formOrderFields,
  formToJsonParts,
  isOfSummary,
  type ListOptions,
  type ListFormsQuery as StoreQuery,
  summaryWriter,
} from '@fms/forms-store'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { FormsDeps } from '../deps.ts'
import { callerSignal } from './caller-signal.ts'
import { OrganizationParams } from './form-params.ts'
import { formMembers } from './resource-members.ts'
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
  /** A page with its items as JSON. Reads no drafts if the mask needs none. */
  const readPage = async (query: StoreQuery, mask: ReadMask | undefined, options: ListOptions) => {
    if (mask && isOfSummary(mask)) {
      const { forms: found, ...page } = await forms.listSummaries(query, options)
      return { ...page, items: found.map(summaryWriter(publicFormBaseUrl, mask)).map((json) => [json]) }
    }
    const { forms: found, ...page } = await forms.list(query, options)
    return { ...page, items: found.map((form) => formToJsonParts(form, publicFormBaseUrl, mask)) }
  }

  app.get(
    '/organizations/:organizationId/forms',
    { schema: { params: OrganizationParams } },
    async ({ params: { organizationId }, query, identity }, reply) => {
      const scope = ['forms', organizationId]
      const options = { filterFields, orderFields: formOrderFields, scope, pageTokens }
      const { nextPageToken, readMask, ...list } = readListQuery(query, {
        contract: ListFormsQuery,
        members: formMembers,
        ...options,
      })
      const listOptions = { signal: callerSignal(reply), caller: identity.userId }
      const { items, ...page } = await readPage({ organizationId, ...list }, readMask, listOptions)
      const end = { nextPageToken: nextPageToken(page.next), totalSize: page.totalSize }
      return sendPage(reply, end, ['forms', items])
    },
  )
}
