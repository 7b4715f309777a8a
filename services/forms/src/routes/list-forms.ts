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
import type { AddRoute } from '@fms/service-kit'
import type { FormsDeps } from '../deps.ts'
import { callerSignal } from '../requests/caller-signal.ts'
import { logSlowList } from '../requests/log-slow-list.ts'
import { OrganizationParams } from './form-params.ts'
import { formMembers } from './resource-members.ts'
import { type MaskedItem, sendPage } from './send-json.ts'

/** List an organization's forms (AIP-132), most recently updated first unless `orderBy` says otherwise. */
export const listForms: AddRoute<FormsDeps> = (app, { forms, publicFormBaseUrl, pageTokens }) => {
  const toMaskedItem = (form: StoredForm, mask: ReadMask): MaskedItem => ({
    length: form.draftJson.length,
    cut: () => formToJson(form, publicFormBaseUrl, mask),
  })

  app.get(
    '/organizations/:organizationId/forms',
    { schema: { params: OrganizationParams } },
    async (request, reply) => {
      const { params, query, identity } = request
      const { organizationId } = params
      const scope = ['forms', organizationId]
      const { nextPageToken, readMask, ...list } = readListQuery(query, {
        schema: ListFormsQuery,
        members: formMembers,
        filterFields: formFilterFields,
        orderFields: formOrderFields,
        scope,
        pageTokens,
      })
      const options = { signal: callerSignal(reply), caller: identity.userId }
      const storeQuery = { organizationId, ...list }
      const endOf = ({ next, totalSize }: Pick<FormsPage, 'next' | 'totalSize'>) => ({
        nextPageToken: nextPageToken(next),
        totalSize,
      })
      if (readMask && isOfSummary(readMask)) {
        const { forms: found, ...page } = await logSlowList(request, (report) =>
          forms.listSummaries(storeQuery, { ...options, report }),
        )
        const items = found.map(summaryWriter(publicFormBaseUrl, readMask))
        return sendPage(reply, endOf(page), ['forms', items])
      }
      const { forms: found, ...page } = await logSlowList(request, (report) =>
        forms.list(storeQuery, { ...options, report }),
      )
      const items = found.map((form) =>
        readMask ? toMaskedItem(form, readMask) : formToJson(form, publicFormBaseUrl),
      )
      return sendPage(reply, endOf(page), ['forms', items])
    },
  )
}
