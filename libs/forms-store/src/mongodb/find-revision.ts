import { isUuid, liveAlias } from '@fms/contracts'
import type { FormRef, RevisionState } from '../forms-store.ts'
import { commandKey } from './changes/reservations.ts'
import {
  type FormDocument,
  type FormsCollections,
  type Incarnation,
  type RevisionDocument,
  visibilityFields,
  visibleRevisions,
} from './documents.ts'
import { findForm } from './find-form.ts'

export interface FoundRevision {
  form: FormDocument
  revision: RevisionDocument
  state: RevisionState
}

/**
 * A visible revision, the form that it belongs to, and its state. Index: revisions_by_id.
 *
 * @param fields of the revision to read; all by default.
 */
export const findRevision = async (
  collections: FormsCollections,
  ref: FormRef,
  revisionRef: string,
  fields?: readonly (keyof RevisionDocument)[],
): Promise<FoundRevision | undefined> => {
  const form = await findForm(collections, ref, [...visibilityFields, 'liveRevisionId', 'aiHandoff'])
  const revisionId = revisionRef === liveAlias ? form?.liveRevisionId : revisionRef.toLowerCase()
  if (!form || !revisionId || !isUuid(revisionId)) return undefined
  const revision = await collections.revisions.findOne({ ...visibleRevisions(form), revisionId }, fields)
  const { liveRevisionId, aiHandoff } = form
  const state = { revisionId, live: revisionId === liveRevisionId, aiHandoff }
  return revision && { form, revision, state }
}

/**
 * The visible revision that a command made, of any form of the organization. Indexes: those of `_id`, revisions_by_commandId.
 */
export const findRevisionOfCommand = async (
  collections: FormsCollections,
  organizationId: string,
  commandId: string,
): Promise<RevisionDocument | undefined> => {
  const reservation = await collections.commands.findOne({ _id: commandKey(organizationId, commandId) })
  if (!reservation) return undefined
  const key = { organizationId, _id: reservation.formId }
  const form = await collections.forms.findOne(key, visibilityFields)
  return form && collections.revisions.findOne({ ...visibleRevisions(form), commandId })
}

/** The revision that a command made of this incarnation of a form, visible or not. Index: revisions_by_commandId. */
export const findRevisionOfForm = (
  { revisions }: FormsCollections,
  incarnation: Incarnation,
  commandId: string,
): Promise<RevisionDocument | undefined> => revisions.findOne({ ...incarnation, commandId })
