import { isUuid, latestAlias, liveAlias } from '@fms/contracts'
import type {
  FormRef,
  ListedRevision,
  ListRevisionsQuery,
  RevisionState,
  RevisionsPage,
} from '../../forms-store.ts'
import { takeUpTo } from '../../lists/take-up-to.ts'
import { toStoredRevision } from '../../stored-rows.ts'
import type { FormDocument, FormsCollections, RevisionDocument } from '../documents.ts'
import { findForm, incarnationOf } from '../find-form.ts'

export interface FoundRevision {
  form: FormDocument
  revision: RevisionDocument
  state: RevisionState
}

const formFields = ['organizationId', 'incarnation', 'liveRevisionId', 'aiHandoff'] as const

/** A revision, its form and its state. Index: revisions_by_id; for `latest`, revisions_by_number. */
export const findRevision = async (
  collections: FormsCollections,
  ref: FormRef,
  revisionRef: string,
  fields?: readonly (keyof RevisionDocument)[],
): Promise<FoundRevision | undefined> => {
  for (;;) {
    const form = await findForm(collections, ref, { fields: formFields })
    if (!form) return undefined
    const revision = await findRevisionOf(collections, form, revisionRef, fields && [...fields, 'revisionId'])
    const { liveRevisionId, aiHandoff } = form
    if (revision) {
      const { revisionId } = revision
      return { form, revision, state: { revisionId, live: revisionId === liveRevisionId, aiHandoff } }
    }
    // Between the two reads `live` may have moved, and the earlier revision may have been pruned.
    if (revisionRef !== liveAlias || liveRevisionId === null) return undefined
    const { organizationId, _id } = form
    if (await collections.forms.has({ organizationId, _id, liveRevisionId })) return undefined
  }
}

const findRevisionOf = async (
  { revisions }: FormsCollections,
  form: FormDocument,
  revisionRef: string,
  fields?: readonly (keyof RevisionDocument)[],
): Promise<RevisionDocument | undefined> => {
  const all = incarnationOf(form)
  if (revisionRef === latestAlias) {
    const options = { sort: { number: -1 }, limit: 1, ...(fields && { fields }) } as const
    return (await Array.fromAsync(revisions.find(all, options))).at(0)
  }
  const revisionId = revisionRef === liveAlias ? form.liveRevisionId : revisionRef.toLowerCase()
  return revisionId && isUuid(revisionId) ? revisions.findOne({ ...all, revisionId }, fields) : undefined
}

/** Reads a page of the revisions of a form. Index: revisions_by_number. @returns undefined when there is no such form. */
export const listRevisions = async (
  collections: FormsCollections,
  { after, limit, skip, ...ref }: ListRevisionsQuery,
): Promise<RevisionsPage | undefined> => {
  const form = await findForm(collections, ref, { fields: formFields })
  if (!form) return undefined
  const { revisions } = collections
  const all = incarnationOf(form)
  const query = { ...all, ...(after !== undefined && { number: { $lt: after } }) }
  const found = revisions.find(query, { sort: { number: -1 }, skip, limit: limit + 1 })
  const [{ taken, more }, totalSize] = await Promise.all([
    takeUpTo(limit, found, (revision) => Buffer.byteLength(revision.form)),
    revisions.count(all),
  ])
  return {
    revisions: taken.map((revision) => toListedRevision(revision, form)),
    ...(more && { next: taken.at(-1)!.number }),
    totalSize,
  }
}

/** @param form the form of the revision, with `liveRevisionId`. */
export const toListedRevision = (revision: RevisionDocument, form: FormDocument): ListedRevision => ({
  revision: toStoredRevision(revision),
  live: revision.revisionId === form.liveRevisionId,
})
