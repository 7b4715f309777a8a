import { ifNoneMatchHolds, readGetQuery } from '@fms/aip'
import { liveAlias } from '@fms/contracts'
import { revisionETag, revisionToJson } from '@fms/forms-store'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { FormsDeps } from '../deps.ts'
import { RevisionParams } from './form-params.ts'
import { missingRevision } from './missing-revision.ts'
import { revisionMembers } from './resource-members.ts'
import { sendJson } from './send-json.ts'

/**
 * Read one revision by its id or as `live`, or the members of a mask (AIP-162, AIP-157); 304 when the caller's copy is current (RFC 9110 If-None-Match).
 * `live` has the AI Handoff of the current draft, which takes effect without a new publish, and all else of the snapshot.
 */
export const getRevision: FastifyPluginAsyncZod<FormsDeps> = async (app, { forms }) => {
  app.get(
    '/organizations/:organizationId/forms/:formRef/revisions/:revisionRef',
    { schema: { params: RevisionParams } },
    async ({ params: { revisionRef, ...ref }, query, headers }, reply) => {
      const mask = readGetQuery(query, revisionMembers)
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
      const aiHandoff = isAlias ? found.aiHandoff : undefined
      return sendJson(reply, revisionToJson(found, { aiHandoff, mask }))
    },
  )
}
