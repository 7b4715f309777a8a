import { isUuid, liveAlias } from '@fms/contracts'
import type { FormRef, RevisionState } from '../forms-store.ts'
import { commandKey } from './changes/reservations.ts'
import {
  type FormDocument,
  type FormsCollections,
  formKey,
  type Incarnation,
  type RevisionDocument,
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
  for (;;) {
    const form = await findForm(collections, ref, revisionFields)
    const revisionId = revisionRef === liveAlias ? form?.liveRevisionId : revisionRef.toLowerCase()
    if (!form || !revisionId || !isUuid(revisionId)) return undefined
    const revision = await collections.revisions.findOne({ ...visibleRevisions(form), revisionId }, fields)
    const { liveRevisionId, aiHandoff } = form
    const state = { revisionId, live: revisionId === liveRevisionId, aiHandoff }
    if (revision) return { form, revision, state }
    // Between the two reads `live` may have moved, and the earlier revision may have been pruned.
    const isSame = { ...formKey(form), liveRevisionId }
    if (revisionRef !== liveAlias || (await collections.forms.has(isSame))) return undefined
  }
}

const revisionFields = [
  'organizationId',
  'incarnation',
  'revisionNumber',
  'liveRevisionId',
  'aiHandoff',
] as const

/**
 * The visible revision that a command made, of any form of the organization. Indexes: those of `_id`,
 * revisions_by_commandId.
 */
export const findRevisionOfCommand = async (
  collections: FormsCollections,
  organizationId: string,
  commandId: string,
): Promise<RevisionDocument | undefined> => {
  const reservation = await collections.commands.findOne({ _id: commandKey(organizationId, commandId) })
  if (!reservation) return undefined
  const key = { organizationId, _id: reservation.formId }
  const fields = ['organizationId', 'incarnation', 'revisionNumber']
  const form = await collections.forms.findOne(key, fields)
  return form && collections.revisions.findOne({ ...visibleRevisions(form), commandId })
}

/** The revision that a command made of this incarnation of a form, visible or not. Index: revisions_by_commandId. */
export const findRevisionOfForm = (
  { revisions }: FormsCollections,
  incarnation: Incarnation,
  commandId: string,
): Promise<RevisionDocument | undefined> => revisions.findOne({ ...incarnation, commandId })
