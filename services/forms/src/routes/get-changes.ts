import { ChangesQuery, draftRef, formPath, liveAlias } from '@fms/contracts'
import { type FormRef, formNotFound, snapshotToJson } from '@fms/forms-store'
import { type AddRoute, flowOf, toPathSegment } from '@fms/service-kit'
import type { FormsDeps } from '../deps.ts'
import { FormParams } from './form-params.ts'
import { missingRevision } from './revisions/missing-revision.ts'
import { sendJson } from './send-json.ts'

/** A state of a form: its path, and the form or draft as JSON. */
interface State {
  path: string
  json: string
}

/** Compare two states of a form, `live` with the draft's AI Handoff. For the draft, with what prevents its publish. */
export const getChanges: AddRoute<FormsDeps> = (app, { forms, drafts }) => {
  const readDraft = async (ref: FormRef): Promise<State> => {
    const form = await forms.get(ref)
    if (!form) throw formNotFound(ref)
    return { path: formPath(form), json: form.draftJson }
  }
  const readRevision = async (ref: FormRef, revisionRef: string): Promise<State> => {
    const found = await forms.getRevision(ref, revisionRef)
    if (!found) throw await missingRevision(forms, ref, revisionRef)
    return {
      path: `${formPath(found.revision)}/revisions/${found.revisionId}`,
      json: snapshotToJson(found.revision, revisionRef === liveAlias ? found.aiHandoff : undefined),
    }
  }

  app.get(
    '/organizations/:organizationId/forms/:formRef/changes',
    { schema: { params: FormParams, querystring: ChangesQuery } },
    async ({ params, query, identity }, reply) => {
      const toDraft = query.to === draftRef
      // The gateway sanitizes references in paths, but not those in the query.
      const [from, to] = await Promise.all([
        readRevision(params, toPathSegment(query.from)),
        toDraft ? readDraft(params) : readRevision(params, toPathSegment(query.to)),
      ])
      const comparison = { fromJson: from.json, toJson: to.json, toDraft }
      const json = await drafts.compare(comparison, flowOf(identity))
      return sendJson(reply, `{"from":"${from.path}","to":"${to.path}",${json.slice(1)}`)
    },
  )
}
