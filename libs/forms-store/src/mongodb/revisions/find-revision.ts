import { isUuid, latestAlias, liveAlias } from '@fms/contracts'
import { takeUpTo } from '@fms/store-kit'
import { MongoList } from '@fms/store-kit/mongodb'
import type {
  FormRef,
  ListedRevision,
  ListRevisionsQuery,
  RevisionState,
  RevisionsPage,
} from '../../forms-store.ts'
import { toStoredRevision } from '../../stored-rows.ts'
import type { FormDocument, FormsCollections, RevisionDocument } from '../documents.ts'
import { findForm, incarnationOf } from '../find-form.ts'
import type { ListLimits } from '../list-forms.ts'

const formFields = ['organizationId', 'incarnation', 'liveRevisionId', 'aiHandoff'] as const

/** A revision, its form and its state. Index: revisions_by_revisionId; for `latest`, revisions_by_number. */
export const findRevision = async (
  collections: FormsCollections,
  ref: FormRef,
  revisionRef: string,
  fields?: readonly (keyof RevisionDocument)[],
): Promise<{ form: FormDocument; revision: RevisionDocument; state: RevisionState } | undefined> => {
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
  limits: ListLimits,
): Promise<RevisionsPage | undefined> => {
  const form = await findForm(collections, ref, { fields: formFields })
  if (!form) return undefined
  const list = new MongoList(collections.revisions, {
    scope: incarnationOf(form),
    fields: {},
    order: [{ field: 'number', descending: true }],
    after: after === undefined ? undefined : [after],
    skip,
    limit,
    ...limits,
  })
  const [{ taken, more }, totalSize] = await Promise.all([
    takeUpTo(limit, list.items(), (revision) => Buffer.byteLength(revision.form)),
    list.count(),
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
