import type { ListedRevision, ListRevisionsQuery, RevisionsPage } from '../../forms-store.ts'
import { takeUpTo } from '../../lists/take-up-to.ts'
import { toStoredRevision } from '../convert-documents.ts'
import type { FormDocument, FormsCollections, RevisionDocument } from '../documents.ts'
import { findForm } from '../find-form.ts'
import { visibilityFields, visibleRevisions } from '../form-queries.ts'

/**
 * Reads a page of the visible revisions of a form. Index: revisions_by_incarnation.
 *
 * @returns undefined when there is no such form.
 */
export const listRevisions = async (
  collections: FormsCollections,
  { after, limit, skip, ...ref }: ListRevisionsQuery,
): Promise<RevisionsPage | undefined> => {
  const form = await findForm(collections, ref, [...visibilityFields, 'liveRevisionId'])
  if (!form) return undefined
  const { revisions } = collections
  const all = visibleRevisions(form)
  const number = { ...all.number, ...(after !== undefined && { $lt: after }) }
  const found = revisions.find({ ...all, number }, { sort: { number: -1 }, skip, limit: limit + 1 })
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
