import type { ChangeDocuments, MongoCollection, MongoDatabase } from '@fms/store-kit/mongodb'
import { trigramsOf } from '../lists/name-trigrams.ts'
import { toStoredDraft } from '../stored-draft.ts'
import { type FormDocument, formsCollections, type RevisionDocument } from './documents.ts'
import { fillIncarnations } from './fill-incarnations.ts'
import { listOrganizationIds } from './records/export-forms.ts'
import { migrateUsage } from './usage.ts'

/** Documents per batch. */
const batchSize = 100

/** What `formctl migrate` adds to documents of earlier schema versions. */
export const formsChanges: readonly ChangeDocuments[] = [
  {
    title: 'filling incarnations of forms',
    run: (database, onChange) => fillIncarnations(database, onChange),
  },
  { title: 'filling fields of forms', run: (database, onChange) => fillForms(database, onChange) },
  { title: 'filling fields of revisions', run: (database, onChange) => fillRevisions(database, onChange) },
  {
    title: 'counting the forms of organizations',
    run: (database, onChange) => countUsage(database, onChange),
  },
]

type Count = (count: number) => void

const fillForms = (database: MongoDatabase, onChange: Count): Promise<void> => {
  const { forms } = formsCollections(database)
  return fill(forms, onChange, ({ organizationId, _id, version, foldedName, draft }: FormDocument) =>
    // A concurrent change has set the fields itself.
    forms.set(
      { organizationId, _id, version, bytes: null },
      {
        bytes: Buffer.byteLength(draft),
        aiHandoff: toStoredDraft(JSON.parse(draft)).aiHandoff,
        nameTrigrams: trigramsOf(foldedName),
      },
    ),
  )
}

const fillRevisions = (database: MongoDatabase, onChange: Count): Promise<void> => {
  const { revisions } = formsCollections(database)
  return fill(revisions, onChange, ({ organizationId, _id, form }: RevisionDocument) =>
    revisions.set({ organizationId, _id }, { bytes: Buffer.byteLength(form) }),
  )
}

/** Changes every document without `bytes`, in one pass in the order of `_id`. */
const fill = async <T extends { _id?: unknown }>(
  collection: MongoCollection<T>,
  onChange: Count,
  set: (document: T) => Promise<boolean>,
): Promise<void> => {
  // Documents of those versions have text as `_id`.
  for (let after: unknown = ''; ; ) {
    const query = { _id: { $gt: after }, bytes: null }
    const found = await Array.fromAsync(collection.find(query, { sort: { _id: 1 }, limit: batchSize }))
    await Promise.all(found.map(set))
    onChange(found.length)
    if (found.length < batchSize) return
    after = found.at(-1)!._id
  }
}

/** Lists read their totals from the usage documents. */
const countUsage = async (database: MongoDatabase, onChange: Count): Promise<void> => {
  const collections = formsCollections(database)
  for await (const organizationId of listOrganizationIds(collections)) {
    if (await migrateUsage(collections, organizationId)) onChange(1)
  }
  // Of organizations whose last form is deleted.
  for await (const { organizationId } of collections.usage.find({ revisions: null })) {
    if (await migrateUsage(collections, organizationId)) onChange(1)
  }
}
