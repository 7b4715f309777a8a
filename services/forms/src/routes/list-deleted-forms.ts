import { invalidPageToken, type Position, readPageQuery } from '@fms/aip'
import type { DeletedForm, ListDeletedFormsResponse } from '@fms/contracts'
import type { DeletedFormPosition, DeletedForm as StoredDeletedForm } from '@fms/forms-store'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { FormsDeps } from '../deps.ts'
import { callerSignal } from './caller-signal.ts'
import { OrganizationParams } from './form-params.ts'

/** List the deleted forms of an organization that can be restored, most recently deleted first (AIP-132). */
export const listDeletedForms: FastifyPluginAsyncZod<FormsDeps> = async (app, { forms, pageTokens }) => {
  app.get(
    '/organizations/:organizationId/deletedForms',
    { schema: { params: OrganizationParams } },
    async ({ params: { organizationId }, query }, reply): Promise<ListDeletedFormsResponse> => {
      const scope = ['deletedForms', organizationId]
      const { after, limit, skip, nextPageToken } = readPageQuery(query, { scope, pageTokens })
      const page = await forms.listDeleted(
        { organizationId, ...(after && { after: fromToken(after) }), limit, skip },
        { signal: callerSignal(reply) },
      )
      const next = page.next && [page.next.deleteTime.getTime(), page.next.formId]
      return {
        deletedForms: page.deletedForms.map(toDeletedForm),
        nextPageToken: nextPageToken(next),
        totalSize: page.totalSize,
      }
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
