import { isUuid, liveAlias } from '@fms/contracts'
import type { FormRef, RevisionState } from '../forms-store.ts'
import type { FormDocument, FormsCollections, RevisionDocument } from './documents.ts'
import { toStoredForm } from './documents.ts'
import { findForm } from './find-form.ts'

export interface FoundRevision {
  form: FormDocument
  revision: RevisionDocument
  state: RevisionState
}

/**
 * A revision, the form that it belongs to, and its state. Index: that of `_id`.
 *
 * @param fields of the revision to read; all by default.
 */
export const findRevision = async (
  collections: FormsCollections,
  ref: FormRef,
  revisionRef: string,
  fields?: readonly (keyof RevisionDocument)[],
): Promise<FoundRevision | undefined> => {
  const form = await findForm(collections, ref, ['organizationId', 'liveRevisionId', 'aiHandoff'])
  const _id = revisionRef === liveAlias ? form?.liveRevisionId : revisionRef.toLowerCase()
  if (!form || !_id || !isUuid(_id)) return undefined
  const { organizationId, _id: formId } = form
  const revision = await collections.revisions.findOne({ organizationId, _id, formId }, fields)
  const aiHandoff = form.aiHandoff ?? (await readAiHandoff(collections, ref))
  const state = { revisionId: _id, live: _id === form.liveRevisionId, aiHandoff }
  return revision && { form, revision, state }
}

/** From the draft, for a form that the previous release wrote. */
const readAiHandoff = async (collections: FormsCollections, ref: FormRef): Promise<boolean> => {
  const form = await findForm(collections, ref)
  return form ? toStoredForm(form).aiHandoff : false
}

/** The revision that a command made. Skips revisions of deleted forms. Index: revisions_by_command. */
export const findRevisionOfCommand = async (
  collections: FormsCollections,
  organizationId: string,
  commandId: string,
): Promise<RevisionDocument | undefined> => {
  const revision = await collections.revisions.findOne({ organizationId, commandId })
  return revision && (await hasForm(collections, revision)) ? revision : undefined
}

/** Whether the form of a revision exists. Without it, the revision is invisible. */
export const hasForm = (
  { forms }: FormsCollections,
  { organizationId, formId }: Pick<RevisionDocument, 'organizationId' | 'formId'>,
): Promise<boolean> => forms.has({ organizationId, _id: formId })
