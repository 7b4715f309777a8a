import { ifNoneMatchHolds } from '@fms/aip'
import { liveAlias, NoQuery } from '@fms/contracts'
import { revisionETag, revisionToJson } from '@fms/forms-store'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { FormsDeps } from '../deps.ts'
import { RevisionParams } from './form-params.ts'
import { missingRevision } from './missing-revision.ts'
import { sendJson } from './send-json.ts'

/**
 * Read one revision by its id or as `live` (AIP-162); 304 when the caller's copy is current (RFC 9110 If-None-Match).
 * `live` has the AI Handoff of the current draft, which takes effect without a new publish, and all else of the snapshot.
 */
export const getRevision: FastifyPluginAsyncZod<FormsDeps> = async (app, { forms }) => {
  app.get(
    '/organizations/:organizationId/forms/:formRef/revisions/:revisionRef',
    { schema: { params: RevisionParams, querystring: NoQuery } },
    async ({ params: { revisionRef, ...ref }, headers }, reply) => {
      const isAlias = revisionRef === liveAlias
      const ifNoneMatch = headers['if-none-match']
      if (ifNoneMatch !== undefined) {
        const state = await forms.getRevisionState(ref, revisionRef)
        if (!state) throw await missingRevision(forms, ref, revisionRef)
        const etag = revisionETag(state, isAlias)
        if (ifNoneMatchHolds(ifNoneMatch, etag)) return reply.code(304).header('etag', etag).send()
      }
      const found = await forms.getRevision(ref, revisionRef)
      if (!found) throw await missingRevision(forms, ref, revisionRef)
      reply.header('etag', revisionETag(found, isAlias))
      return sendJson(reply, revisionToJson(found, isAlias ? found.aiHandoff : undefined))
    },
  )
}
