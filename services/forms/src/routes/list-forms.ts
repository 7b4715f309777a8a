import { type ReadMask, readListQuery } from '@fms/aip'
import { formOrderFields, ListFormsQuery } from '@fms/contracts'
import {
  type FormsPage,
  formFilterFields,
  formToJson,
  isOfSummary,
  type StoredForm,
  summaryWriter,
} from '@fms/forms-store'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { FormsDeps } from '../deps.ts'
import { callerSignal } from './caller-signal.ts'
import { OrganizationParams } from './form-params.ts'
import { formMembers } from './resource-members.ts'
import { type MaskedItem, sendPage } from './send-json.ts'

/** List an organization's forms (AIP-132), most recently updated first unless `orderBy` says otherwise. */
export const listForms: FastifyPluginAsyncZod<FormsDeps> = async (
  app,
  { forms, publicFormBaseUrl, pageTokens },
) => {
  const toMaskedItem = (form: StoredForm, mask: ReadMask): MaskedItem => ({
    length: form.draftJson.length,
    cut: () => formToJson(form, publicFormBaseUrl, mask),
  })

  app.get(
    '/organizations/:organizationId/forms',
    { schema: { params: OrganizationParams } },
    async ({ params: { organizationId }, query, identity }, reply) => {
      const scope = ['forms', organizationId]
      const { nextPageToken, readMask, ...list } = readListQuery(query, {
        contract: ListFormsQuery,
        members: formMembers,
        filterFields: formFilterFields,
        orderFields: formOrderFields,
        scope,
        pageTokens,
      })
      const listOptions = { signal: callerSignal(reply), caller: identity.userId }
      const storeQuery = { organizationId, ...list }
      const endOf = ({ next, totalSize }: Pick<FormsPage, 'next' | 'totalSize'>) => ({
        nextPageToken: nextPageToken(next),
        totalSize,
      })
      if (readMask && isOfSummary(readMask)) {
        const { forms: found, ...page } = await forms.listSummaries(storeQuery, listOptions)
        const items = found.map(summaryWriter(publicFormBaseUrl, readMask))
        return sendPage(reply, endOf(page), ['forms', items])
      }
      const { forms: found, ...page } = await forms.list(storeQuery, listOptions)
      const items = found.map((form) =>
        readMask ? toMaskedItem(form, readMask) : formToJson(form, publicFormBaseUrl),
      )
      return sendPage(reply, endOf(page), ['forms', items])
    },
  )
}
