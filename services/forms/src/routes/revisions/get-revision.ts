import { ifNoneMatchHolds, readGetQuery } from '@fms/aip'
import { liveAlias } from '@fms/contracts'
import { revisionETag, revisionToJson } from '@fms/forms-store'
import type { AddRoute } from '@fms/service-kit'
import type { FormsDeps } from '../../deps.ts'
import { RevisionParams } from '../form-params.ts'
import { revisionMembers } from '../resource-members.ts'
import { sendJson } from '../send-json.ts'
import { missingRevision } from './missing-revision.ts'

/** Read one revision, or members of it (AIP-162, AIP-157), or 304. `live` has the AI Handoff of the draft. */
export const getRevision: AddRoute<FormsDeps> = (app, { forms }) => {
  app.get(
    '/organizations/:organizationId/forms/:formRef/revisions/:revisionRef',
    { schema: { params: RevisionParams } },
    async ({ params: { revisionRef, ...ref }, query, headers }, reply) => {
      const mask = readGetQuery(query, revisionMembers)
      const ifNoneMatch = headers['if-none-match']
      if (ifNoneMatch !== undefined) {
        const state = await forms.getRevisionState(ref, revisionRef)
        if (!state) throw await missingRevision(forms, ref, revisionRef)
        const etag = revisionETag(state, revisionRef === liveAlias)
        if (ifNoneMatchHolds(ifNoneMatch, etag)) return reply.header('etag', etag).code(304).send()
      }
      const found = await forms.getRevision(ref, revisionRef)
      if (!found) throw await missingRevision(forms, ref, revisionRef)
      const aiHandoff = revisionRef === liveAlias ? found.aiHandoff : undefined
      reply.header('etag', revisionETag(found, revisionRef === liveAlias))
      return sendJson(reply, revisionToJson(found, { aiHandoff, mask }))
    },
  )
}
