import { ListRevisionsResponse } from '@fms/contracts'
import { formNotFound, toRevision } from '@fms/forms-store'
import { readPageQuery } from '@fms/service-kit'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { FormsDeps } from '../app.ts'
import { FormParams } from './form-params.ts'

/** List a form's revisions, newest first (AIP-162). */
export const listRevisions: FastifyPluginAsyncZod<FormsDeps> = async (app, { forms, pageTokens }) => {
  app.get(
    '/organizations/:organizationId/forms/:formRef/revisions',
    { schema: { params: FormParams, response: { 200: ListRevisionsResponse } } },
    async ({ params, query }) => {
      const form = await forms.get(params)
      if (!form) throw formNotFound(params)
      const { after, limit, skip, nextPageToken } = readPageQuery(query, {
        scope: ['revisions', form.formId],
        pageTokens,
      })
      const page = await forms.listRevisions({
        ...params,
        limit,
        skip,
        after: after?.[0] as number | undefined,
      })
      if (!page) throw formNotFound(params)
      return {
        nextPageToken: nextPageToken(page.next === undefined ? undefined : [page.next]),
        totalSize: page.totalSize,
        revisions: page.revisions.map(toRevision),
      }
    },
  )
}
