import { storeNotMigrated } from './errors.ts'
import type { MongoCollection } from './mongodb-collection.ts'

export interface MongoIndex {
  collection: string
  name: string
  key: Readonly<Record<string, 1 | -1>>
  unique?: true
}

/** The indexes of a store. Another set is another version. */
export interface MongoSchema {
  /** Stores that share a database have different names. */
  store: string
  version: number
  indexes: readonly MongoIndex[]
}

/** What is noted of a store once its indexes are there. */
export interface SchemaDocument {
  _id: string
  version: number
}

export const metaCollection = 'meta'

/** @throws {ApiError} STORE_NOT_MIGRATED unless all of the schema's indexes are there. */
export const demandSchema = async (
  meta: MongoCollection<SchemaDocument>,
  { store, version }: MongoSchema,
): Promise<void> => {
  const found = await meta.findOne({ _id: store })
  if ((found?.version ?? 0) < version) throw storeNotMigrated(store)
}
