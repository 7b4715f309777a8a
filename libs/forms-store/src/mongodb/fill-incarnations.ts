import type { MongoCollection, MongoDatabase, MongoDocument } from '@fms/store-kit/mongodb'
import { commandKey } from './changes/reservations.ts'
import { type FormsCollections, formsCollections, type RevisionDocument } from './documents.ts'

/** How many forms change at a time, and how many revisions of each. */
const batchSize = 10

/**
 * Gives the documents of schema 2 an incarnation: the form's id. The form, or the note of its deletion, gets it last,
 * so that a run after a kill continues. Idempotent. Earlier releases must not write meanwhile.
 *
 * Revisions and replies without a form and without a note, which killed publishes and imports left, stay as they are:
 * nothing reads them.
 */
export const fillIncarnations = async (
  database: MongoDatabase,
  onChange: (count: number) => void = () => {},
): Promise<void> => {
  const collections = formsCollections(database)
  const { forms, deletions, publicIds } = collections
  await forEach(forms, { incarnation: null }, ['organizationId'], async ({ organizationId, _id }) => {
    await fillHistory(collections, organizationId, _id)
    await forms.set({ organizationId, _id, incarnation: null }, { incarnation: _id })
    onChange(1)
  })
  // The `_id` of an earlier note is the form's id.
  await forEach(deletions, { incarnation: null }, ['organizationId'], async ({ organizationId, _id }) => {
    await fillHistory(collections, organizationId, _id)
    const fields = { formId: _id, incarnation: _id, clearTime: 0, isCleared: false }
    await deletions.set({ organizationId, _id, incarnation: null }, fields)
  })
  await forEach(publicIds, { incarnations: null }, ['formId'], ({ _id, formId }) =>
    publicIds.set({ _id, incarnations: null }, { incarnations: [formId], isShared: false }),
  )
}

/** The revisions of a form, their commands, and its replies. */
const fillHistory = async (
  collections: FormsCollections,
  organizationId: string,
  formId: string,
): Promise<void> => {
  const { revisions, replies } = collections
  const all = { organizationId, formId, incarnation: null }
  const fields = ['organizationId', 'formId', 'commandId']
  await forEach(revisions, all, fields, (revision) => fillRevision(collections, revision))
  await replies.setMany(all, { incarnation: formId })
}

/** Reserves the command before the revision is complete: a later run finds the revision again. */
const fillRevision = async (
  { revisions, commands }: FormsCollections,
  { _id, organizationId, formId, commandId }: RevisionDocument,
): Promise<void> => {
  const holder = { organizationId, formId, incarnations: [formId], isShared: false }
  await commands.insert({ _id: commandKey(organizationId, commandId), ...holder, reserveTime: Date.now() })
  // Its `_id` was the revision's id.
  await revisions.set({ organizationId, formId, _id }, { incarnation: formId, revisionId: `${_id}` })
}

/**
 * Changes all documents that match, a batch at a time, in the order of `_id`.
 *
 * @param fields that `change` reads.
 */
const forEach = async <T extends MongoDocument>(
  collection: MongoCollection<T>,
  query: object,
  fields: readonly string[],
  change: (document: T) => Promise<unknown>,
): Promise<void> => {
  let batch: T[] = []
  do {
    const after = batch.at(-1)?._id
    const rest = after === undefined ? query : { ...query, _id: { $gt: after } }
    batch = await Array.fromAsync(collection.find(rest, { fields, sort: { _id: 1 }, limit: batchSize }))
    await Promise.all(batch.map(change))
  } while (batch.length === batchSize)
}
