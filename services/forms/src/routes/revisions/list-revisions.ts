import { invalidPageToken, readPageQuery } from '@fms/aip'
import { ListRevisionsQuery } from '@fms/contracts'
import { formNotFound, revisionToJson } from '@fms/forms-store'
import type { AddRoute } from '@fms/service-kit'
import type { FormsDeps } from '../../deps.ts'
import { callerSignal } from '../../requests/caller-signal.ts'
import { FormParams } from '../form-params.ts'
import { revisionMembers } from '../resource-members.ts'
import { sendPage } from '../send-json.ts'

/** List a form's revisions, newest first (AIP-162). */
export const listRevisions: AddRoute<FormsDeps> = (app, { forms, pageTokens }) => {
  app.get(
    '/organizations/:organizationId/forms/:formRef/revisions',
    { schema: { params: FormParams } },
    async ({ params, query, identity }, reply) => {
      const scope = ['revisions', params.organizationId]
      const { after, limit, skip, readMask, nextPageToken } = readPageQuery(query, {
        schema: ListRevisionsQuery,
        members: revisionMembers,
        scope,
        pageTokens,
      })
      const form = await forms.getMetadata(params)
      if (!form) throw formNotFound(params)
      // The position contains the form's id, because the path can use its UUID on one page and its public id on the next.
      const [formId, number] = after ?? [form.formId]
      if (formId !== form.formId) throw invalidPageToken()

      const page = await forms.listRevisions(
        { ...params, limit, skip, after: number as number | undefined },
        { signal: callerSignal(reply), caller: identity.userId },
      )
      if (!page) throw formNotFound(params)
      const token = nextPageToken(page.next === undefined ? undefined : [form.formId, page.next])
      const end = { nextPageToken: token, totalSize: page.totalSize }
      const items = page.revisions.map((found) =>
        readMask
          ? {
              length: found.revision.formJson.length,
              cut: () => revisionToJson(found, { mask: readMask }),
            }
          : revisionToJson(found),
      )
      return sendPage(reply, end, ['revisions', items])
    },
  )
}
