import { setTimeout as wait } from 'node:timers/promises'
import { schemaCheckMs } from '../schema-note.ts'
import type { Migration } from '../store-url.ts'
import type { MongoCollection } from './mongodb-collection.ts'
import { MongoDatabase } from './mongodb-database.ts'
import {
  demandUsableSchema,
  type MongoSchema,
  metaCollection,
  type SchemaDocument,
} from './mongodb-schema.ts'

/** Until releases that are shut out have noticed, and their last requests have arrived. */
const noticeMs = 2 * schemaCheckMs

/**
 * Shuts out releases that cannot use the new schema, changes documents, makes the indexes that are missing, and notes
 * at the end that they are there. May run again, and twice at once.
 *
 * @param changeDocuments gives documents of earlier releases what this one needs; may run again.
 * @throws {ApiError} STORE_SCHEMA_TOO_NEW, before it changes anything.
 */
export const migrateMongodb = async (
  url: string,
  schema: MongoSchema,
  changeDocuments: () => Promise<void> = async () => {},
): Promise<Migration> => {
  const { store, version, indexes } = schema
  await using database = new MongoDatabase(url)
  const meta = database.collection<SchemaDocument>(metaCollection)
  await shutOut(meta, schema)
  await changeDocuments()
  for (const index of indexes) await database.createIndex(index)
  // A newer release's note stays.
  await meta.set({ _id: store, version: { $lt: version } }, { version })
  return { engine: 'MongoDB', version }
}

/** Raises `oldestVersion`, and waits where releases may be running that it shuts out. */
const shutOut = async (meta: MongoCollection<SchemaDocument>, schema: MongoSchema): Promise<void> => {
  const { store: _id, oldestVersion } = schema
  const isNoted = (await demandUsableSchema(meta, schema)) !== undefined
  if (!isNoted && (await meta.insert({ _id, version: 0, oldestVersion }))) return
  const older = { _id, $or: [{ oldestVersion: null }, { oldestVersion: { $lt: oldestVersion } }] }
  if (await meta.set(older, { oldestVersion })) await wait(noticeMs)
}
