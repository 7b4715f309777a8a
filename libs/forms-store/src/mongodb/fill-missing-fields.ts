import { type MongoCollection, MongoDatabase, type MongoDocument } from '@fms/store-kit/mongodb'
import { trigramsOf } from '../lists/name-trigrams.ts'
import { toStoredDraft } from '../stored-draft.ts'
import { type FormDocument, formsCollections, type RevisionDocument } from './documents.ts'
import { fillIncarnations } from './fill-incarnations.ts'

/** Documents per batch. */
const batchSize = 100

/** Adds the fields of this release to documents of the previous one. Idempotent, and safe during writes. */
export const fillMissingFields = async (url: string): Promise<void> => {
  await using database = new MongoDatabase(url)
  await fillIncarnations(database)
  const { forms, revisions } = formsCollections(database)
  await fill(forms, ({ organizationId, _id, version, foldedName, draft }: FormDocument) =>
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
  await fill(revisions, ({ organizationId, _id, form }: RevisionDocument) =>
    revisions.set({ organizationId, _id }, { bytes: Buffer.byteLength(form) }),
  )
}

const fill = async <T extends MongoDocument>(
  collection: MongoCollection<T>,
  set: (document: T) => Promise<boolean>,
): Promise<void> => {
  for (;;) {
    const found = await Array.fromAsync(collection.find({ bytes: null }, { limit: batchSize }))
    await Promise.all(found.map(set))
    if (found.length < batchSize) return
  }
}
