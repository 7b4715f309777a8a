import { ifNoneMatchHolds, type ReadMask, readGetQuery } from '@fms/aip'
import { isUuid, liveAlias } from '@fms/contracts'
import { type RevisionState, revisionETag, revisionToJson, snapshotETag } from '@fms/forms-store'
import type { AddRoute } from '@fms/service-kit'
import type { FormsDeps } from '../../deps.ts'
import { RevisionParams } from '../form-params.ts'
import { revisionMembers } from '../resource-members.ts'
import { sendJson } from '../send-json.ts'
import { missingRevision } from './missing-revision.ts'

/** Lets the caller's own cache reuse a response for a year without a request (RFC 9111 §5.2.2, RFC 8246). */
const immutable = 'private, max-age=31536000, immutable'

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
        const headersOfState = headersOf(state, revisionRef, mask)
        if (ifNoneMatchHolds(ifNoneMatch, headersOfState.etag))
          return reply.headers(headersOfState).code(304).send()
      }
      const found = await forms.getRevision(ref, revisionRef)
      if (!found) throw await missingRevision(forms, ref, revisionRef)
      const aiHandoff = revisionRef === liveAlias ? found.aiHandoff : undefined
      reply.headers(headersOf(found, revisionRef, mask))
      return sendJson(reply, revisionToJson(found, { aiHandoff, mask }))
    },
  )
}

/** The ETag, and for members that never change `Cache-Control`. */
const headersOf = (state: RevisionState, revisionRef: string, mask: ReadMask | undefined) => {
  const isImmutable = isUuid(revisionRef) && mask !== undefined && !mask.has('alternateIds')
  if (isImmutable) return { etag: snapshotETag(state), 'cache-control': immutable }
  return { etag: revisionETag(state, revisionRef === liveAlias) }
}
