import { liveAlias, NoQuery, Revision } from '@fms/contracts'
import { formNotFound, toRevision } from '@fms/forms-store'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { FormsDeps } from '../app.ts'
import { revisionNotFound } from '../errors.ts'
import { RevisionParams } from './form-params.ts'

/**
 * Read one revision by its id or as `live` (AIP-162). `live` shows the AI Handoff of the current form, so that a
 * change of it takes effect without republishing; all else is the snapshot.
 */
export const getRevision: FastifyPluginAsyncZod<FormsDeps> = async (app, { forms }) => {
  app.get(
    '/organizations/:organizationId/forms/:formRef/revisions/:revisionRef',
    { schema: { params: RevisionParams, querystring: NoQuery, response: { 200: Revision } } },
    async ({ params: { revisionRef, ...ref } }) => {
      const found = await forms.getRevision(ref, revisionRef)
      if (!found) throw (await forms.get(ref)) ? revisionNotFound(ref, revisionRef) : formNotFound(ref)
      const revision = toRevision(found)
      if (revisionRef !== liveAlias) return revision
      return { ...revision, form: { ...revision.form, aiHandoff: found.current.draft.aiHandoff } }
    },
  )
}
