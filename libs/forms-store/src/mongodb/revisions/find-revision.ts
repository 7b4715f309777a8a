import { isUuid, latestAlias, liveAlias } from '@fms/contracts'
import type { FormRef, RevisionState, StoredRevision } from '../../forms-store.ts'
import { commandKey } from '../changes/reservations.ts'
import { toStoredRevision } from '../convert-documents.ts'
import { findDeleted } from '../deleted-forms/find-deleted.ts'
import type {
  FormDocument,
  FormsCollections,
  Incarnation,
  ReservationDocument,
  RevisionDocument,
} from '../documents.ts'
import { findForm } from '../find-form.ts'
import { formById, formKey, incarnationOf, visibilityFields, visibleRevisions } from '../form-queries.ts'

export interface FoundRevision {
  form: FormDocument
  revision: RevisionDocument
  state: RevisionState
}

/**
 * A visible revision, the form that it belongs to, and its state. Index: revisions_by_id; for `latest`,
 * revisions_by_incarnation.
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
    if (!form) return undefined
    const revision = await findRevisionOf(collections, form, revisionRef, fields && [...fields, 'revisionId'])
    const { liveRevisionId, aiHandoff } = form
    if (revision) {
      const { revisionId } = revision
      return { form, revision, state: { revisionId, live: revisionId === liveRevisionId, aiHandoff } }
    }
    // Between the two reads `live` may have moved, and the earlier revision may have been pruned.
    if (revisionRef !== liveAlias || liveRevisionId === null) return undefined
    if (await collections.forms.has({ ...formKey(form), liveRevisionId })) return undefined
  }
}

const revisionFields = [...visibilityFields, 'liveRevisionId', 'aiHandoff'] as const

const findRevisionOf = async (
  { revisions }: FormsCollections,
  form: FormDocument,
  revisionRef: string,
  fields?: readonly (keyof RevisionDocument)[],
): Promise<RevisionDocument | undefined> => {
  const visible = visibleRevisions(form)
  if (revisionRef === latestAlias) {
    const options = { sort: { number: -1 }, limit: 1, ...(fields && { fields }) } as const
    return (await Array.fromAsync(revisions.find(visible, options))).at(0)
  }
  const revisionId = revisionRef === liveAlias ? form.liveRevisionId : revisionRef.toLowerCase()
  if (!revisionId || !isUuid(revisionId)) return undefined
  return revisions.findOne({ ...visible, revisionId }, fields)
}

/** The revision that is live in a document of a form. Index: revisions_by_id. */
export const findLiveRevision = async (
  { revisions }: FormsCollections,
  form: FormDocument,
): Promise<StoredRevision | undefined> => {
  const { liveRevisionId: revisionId } = form
  if (revisionId === null) return undefined
  const revision = await revisions.findOne({ ...incarnationOf(form), revisionId, isCancelled: null })
  return revision && toStoredRevision(revision)
}

/**
 * The visible revision that a command made, of any form of the organization, also of a deleted one that can be restored.
 * Indexes: those of `_id`, deletions_by_form, revisions_by_commandId.
 */
export const findRevisionOfCommand = async (
  collections: FormsCollections,
  organizationId: string,
  commandId: string,
): Promise<RevisionDocument | undefined> => {
  const reservation = await collections.commands.findOne({ _id: commandKey(organizationId, commandId) })
  if (!reservation) return undefined
  const form = await findOwner(collections, reservation)
  return form && collections.revisions.findOne({ ...visibleRevisions(form), commandId })
}

/** The form that has reserved a command, deleted or not. */
const findOwner = async (
  collections: FormsCollections,
  { organizationId, formId }: ReservationDocument,
): Promise<FormDocument | undefined> => {
  const find = () => collections.forms.findOne(formById({ organizationId, formId }), visibilityFields)
  const findInNote = () => findDeleted(collections, { organizationId, formRef: formId })
  // An undelete may move the form from the one to the other meanwhile.
  return (await find()) ?? (await findInNote())?.form ?? (await find())
}

/** The revision that a command made of this incarnation of a form, visible or not. Index: revisions_by_commandId. */
export const findRevisionOfForm = (
  { revisions }: FormsCollections,
  incarnation: Incarnation,
  commandId: string,
): Promise<RevisionDocument | undefined> => revisions.findOne({ ...incarnation, commandId })
