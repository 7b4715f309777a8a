import { MongoDatabase } from './mongodb-database.ts'
import { type MongoSchema, metaCollection, type SchemaDocument } from './mongodb-schema.ts'
import type { Migration } from './store-url.ts'

/** Makes the indexes that are missing, and notes at the end that they are there. May run again, and twice at once. */
export const migrateMongodb = async (
  url: string,
  { store, version, indexes }: MongoSchema,
): Promise<Migration> => {
  await using database = new MongoDatabase(url)
  for (const index of indexes) await database.createIndex(index)
  const meta = database.collection<SchemaDocument>(metaCollection)
  const isNoted = !(await meta.insert({ _id: store, version }))
  // A newer release's note stays.
  if (isNoted) await meta.set({ _id: store, version: { $lt: version } }, { version })
  return { engine: 'MongoDB', version }
}
