import { ifNoneMatchHolds, type ReadMask, readGetQuery } from '@fms/aip'
import { isUuid, liveAlias } from '@fms/contracts'
import { type RevisionState, revisionETag, revisionToJson, snapshotETag } from '@fms/forms-store'
import type { FastifyReply } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { FormsDeps } from '../deps.ts'
import { callerSignal } from './caller-signal.ts'
import { RevisionParams } from './form-params.ts'
import { missingRevision } from './missing-revision.ts'
import { revisionMembers } from './resource-members.ts'
import { sendJson } from './send-json.ts'
import { isLongCut, Turns } from './turns.ts'

/** Lets the caller's own cache reuse a response for a year without a request (RFC 9111 §5.2.2, RFC 8246). */
const immutable = 'private, max-age=31536000, immutable'

/**
 * Read one revision by its id, as `live` or as `latest`, or the members of a mask (AIP-162, AIP-157); 304 when the
 * caller's copy is current (RFC 9110 If-None-Match). `live` has the AI Handoff of the current draft, which takes effect without a new publish, and all else of the snapshot.
 */
export const getRevision: FastifyPluginAsyncZod<FormsDeps> = async (app, { forms }) => {
  const turns = new Turns()
  app.get(
    '/organizations/:organizationId/forms/:formRef/revisions/:revisionRef',
    { schema: { params: RevisionParams } },
    async ({ params: { revisionRef, ...ref }, query, headers, identity }, reply) => {
      const mask = readGetQuery(query, revisionMembers)
      const isAlias = revisionRef === liveAlias
      const setHeaders = headersFor(revisionRef, mask)
      const ifNoneMatch = headers['if-none-match']
      if (ifNoneMatch !== undefined) {
        const state = await forms.getRevisionState(ref, revisionRef)
        if (!state) throw await missingRevision(forms, ref, revisionRef)
        if (ifNoneMatchHolds(ifNoneMatch, setHeaders(state, reply))) return reply.code(304).send()
      }
      const found = await forms.getRevision(ref, revisionRef)
      if (!found) throw await missingRevision(forms, ref, revisionRef)
      setHeaders(found, reply)
      const aiHandoff = isAlias ? found.aiHandoff : undefined
      const write = () => revisionToJson(found, { aiHandoff, mask })
      if (!isLongCut(found.revision.formJson, mask)) return sendJson(reply, write())
      return sendJson(
        reply,
        await turns.take({ caller: identity.userId, signal: callerSignal(reply) }, write),
      )
    },
  )
}

/** Returns a function that sets the ETag, which it returns, and for members that never change `Cache-Control`. */
const headersFor = (revisionRef: string, mask: ReadMask | undefined) => {
  const isImmutable = isUuid(revisionRef) && mask !== undefined && !mask.has('alternateIds')
  return (state: RevisionState, reply: FastifyReply): string => {
    if (isImmutable) reply.header('cache-control', immutable)
    const etag = isImmutable ? snapshotETag(state) : revisionETag(state, revisionRef === liveAlias)
    reply.header('etag', etag)
    return etag
  }
}
