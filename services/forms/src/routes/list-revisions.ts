import { invalidPageToken } from '@fms/aip'
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
      const scope = ['revisions', params.organizationId]
      const { after, limit, skip, nextPageToken } = readPageQuery(query, { scope, pageTokens })
      const form = await forms.get(params)
      if (!form) throw formNotFound(params)
      // The form may be named by either of its ids from page to page, so that it is the position that tells it.
      const [formId, number] = after ?? [form.formId]
      if (formId !== form.formId) throw invalidPageToken()

      const page = await forms.listRevisions({ ...params, limit, skip, after: number as number | undefined })
      if (!page) throw formNotFound(params)
      return {
        nextPageToken: nextPageToken(page.next === undefined ? undefined : [form.formId, page.next]),
        totalSize: page.totalSize,
        revisions: page.revisions.map(toRevision),
      }
    },
  )
}
