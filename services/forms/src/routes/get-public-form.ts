import { hash } from 'node:crypto'
import { apiError, cutJson, ifNoneMatchHolds, maskSchemaOf, parseReadMask } from '@fms/aip'
import { Form, liveAlias, NoQuery, publicFormFields } from '@fms/contracts'
import { type RevisionState, revisionETag, snapshotToJson } from '@fms/forms-store'
import type { AddRoute } from '@fms/service-kit'
import { z } from 'zod'
import type { FormsDeps } from '../deps.ts'
import { sendJson } from './send-json.ts'

const Params = z.object({ publicId: z.string() })

const members = publicFormFields.join()
const mask = parseReadMask(members, maskSchemaOf(Form))!

/** Internal: read the public members of the live revision, or 304. Unknown, deleted and unpublished forms are one error. */
export const getPublicForm: AddRoute<FormsDeps> = (app, { forms }) => {
  app.get(
    '/internal/forms/:publicId/public',
    { schema: { params: Params, querystring: NoQuery } },
    async ({ params: { publicId }, headers }, reply) => {
      const notFound = () => apiError('PUBLIC_FORM_NOT_FOUND', { publicId })
      const organizationId = await forms.findOrganizationOf(publicId)
      if (organizationId === undefined) throw notFound()
      const ref = { organizationId, formRef: publicId }
      const ifNoneMatch = headers['if-none-match']
      if (ifNoneMatch !== undefined) {
        const state = await forms.getRevisionState(ref, liveAlias)
        if (!state) throw notFound()
        const etag = publicETag(state)
        if (ifNoneMatchHolds(ifNoneMatch, etag)) return reply.header('etag', etag).code(304).send()
      }
      const found = await forms.getRevision(ref, liveAlias)
      if (!found) throw notFound()
      const form = cutJson(snapshotToJson(found.revision, found.aiHandoff), mask)
      const json = `${form.slice(0, -1)},"number":${found.revision.number}}`
      return sendJson(reply.header('etag', publicETag(found)), json)
    },
  )
}

/** Covers the list of members, which another release may have longer. A hash: the id of a revision contains its time. */
const publicETag = (state: RevisionState): string =>
  `"${hash('sha256', `${members} ${revisionETag(state, true)}`, 'base64url')}"`
