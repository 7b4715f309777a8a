import { parseIfMatch } from '@fms/aip'
import { isUuid, NoQuery, RollbackFormRequest } from '@fms/contracts'
import { assertIfMatch, formNotFound, type StoredForm } from '@fms/forms-store'
import { type AddRoute, flowOf } from '@fms/service-kit'
import type { FormsDeps } from '../../deps.ts'
import { changedForm } from '../../domain/new-form.ts'
import { changeContext } from '../../requests/change-context.ts'
import { RevisionParams } from '../form-params.ts'
import { sendForm } from '../send-form.ts'
import { missingRevision } from './missing-revision.ts'

/** Roll the draft back to a revision, all but its AI Handoff (compare AIP-162). Respondents see nothing of it. */
export const rollbackForm: AddRoute<FormsDeps> = (app, { forms, drafts, publicFormBaseUrl, now }) => {
  app.post(
    '/organizations/:organizationId/forms/:formRef/revisions/:revisionRef/rollback',
    { schema: { params: RevisionParams, querystring: NoQuery, body: RollbackFormRequest } },
    async (request, reply) => {
      const { body, headers } = request
      const { revisionRef, ...ref } = request.params
      const ifMatch = parseIfMatch(headers['if-match'])
      const context = await changeContext(drafts, 'rollback', request, body, {
        revisionRef: isUuid(revisionRef) ? revisionRef.toLowerCase() : revisionRef,
      })
      await forms.checkRequest(ref, context.request)
      const found = await forms.getRevision(ref, revisionRef)
      if (!found) throw await missingRevision(forms, ref, revisionRef)
      const { revision } = found
      const change = async (current: StoredForm) => {
        assertIfMatch(ifMatch, ref, current)
        const draft = await drafts.restore(current.draftJson, revision.formJson, flowOf(request.identity))
        return draft ? changedForm(current, draft, now()) : current
      }
      const updated = await forms.update(ref, change, context, revision)
      if (!updated) throw formNotFound(ref)
      return sendForm(reply, updated, publicFormBaseUrl, body)
    },
  )
}
