import { MongoDatabase } from './mongodb-database.ts'
import { metaCollection, type SchemaDocument } from './mongodb-schema.ts'

/** Whether such a store was ever prepared there, by whatever release. */
export const mongodbStoreExists = async (url: string, store: string): Promise<boolean> => {
  await using database = new MongoDatabase(url)
  return database.collection<SchemaDocument>(metaCollection).has({ _id: store })
}
