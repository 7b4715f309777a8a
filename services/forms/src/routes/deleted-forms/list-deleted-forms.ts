import { invalidPageToken, type Position, readPageQuery } from '@fms/aip'
import type { DeletedForm } from '@fms/contracts'
import type { DeletedFormPosition, DeletedForm as StoredDeletedForm } from '@fms/forms-store'
import type { AddRoute } from '@fms/service-kit'
import type { FormsDeps } from '../../deps.ts'
import { callerSignal } from '../../requests/caller-signal.ts'
import { OrganizationParams } from '../form-params.ts'
import { sendPage } from '../send-json.ts'

/** List the deleted forms of an organization that can be restored, most recently deleted first (AIP-132). */
export const listDeletedForms: AddRoute<FormsDeps> = (app, { forms, pageTokens }) => {
  app.get(
    '/organizations/:organizationId/deletedForms',
    { schema: { params: OrganizationParams } },
    async ({ params: { organizationId }, query, identity }, reply) => {
      const scope = ['deletedForms', organizationId]
      const { after, limit, skip, nextPageToken } = readPageQuery(query, { scope, pageTokens })
      const storeQuery = { organizationId, ...(after && { after: fromToken(after) }), limit, skip }
      const options = { signal: callerSignal(reply), caller: identity.userId }
      const { deletedForms, next, totalSize } = await forms.listDeleted(storeQuery, options)
      const items = deletedForms.map((deleted) => JSON.stringify(toDeletedForm(deleted)))
      const end = {
        nextPageToken: nextPageToken(next && [next.deleteTime.getTime(), next.formId]),
        totalSize,
      }
      return sendPage(reply, end, ['deletedForms', items])
    },
  )
}

const fromToken = ([deleteTime, formId]: Position): DeletedFormPosition => {
  if (typeof deleteTime !== 'number' || typeof formId !== 'string') throw invalidPageToken()
  return { deleteTime: new Date(deleteTime), formId }
}

const toDeletedForm = (deleted: StoredDeletedForm): DeletedForm => ({
  path: `organizations/${deleted.organizationId}/deletedForms/${deleted.formId}`,
  publicId: deleted.publicId,
  name: deleted.name,
  deleteTime: deleted.deleteTime.toISOString(),
  purgeTime: deleted.purgeTime.toISOString(),
  deleter: deleted.deleter,
})
