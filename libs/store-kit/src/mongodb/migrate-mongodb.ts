import { setTimeout as wait } from 'node:timers/promises'
import { schemaCheckMs } from '../schema-note.ts'
import type { Migration } from '../store-url.ts'
import type { MongoCollection } from './mongodb-collection.ts'
import { MongoDatabase } from './mongodb-database.ts'
import {
  type MongoSchema,
  metaCollection,
  readCompatibleNote,
  type SchemaDocument,
} from './mongodb-schema.ts'

/** The time in which excluded releases notice the new schema and finish their requests. */
const exclusionMs = 2 * schemaCheckMs

/**
 * Migrates a store: excludes releases that cannot use the new schema, changes documents, creates the missing indexes,
 * and records the version. It may run again, and concurrently.
 *
 * @param changeDocuments adds what this release needs to documents of earlier releases; may run again.
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
  await excludeReleases(meta, schema)
  await changeDocuments()
  for (const index of indexes) await database.createIndex(index)
  // The version of a newer release stays.
  await meta.set({ _id: store, version: { $lt: version } }, { version })
  return { engine: 'MongoDB', version }
}

/** Raises `oldestVersion`, and waits where that may exclude releases that are running. */
const excludeReleases = async (meta: MongoCollection<SchemaDocument>, schema: MongoSchema): Promise<void> => {
  const { store: _id, oldestVersion } = schema
  const note = await readCompatibleNote(meta, schema)
  if (!note && (await meta.insert({ _id, version: 0, oldestVersion }))) return
  const older = { _id, $or: [{ oldestVersion: null }, { oldestVersion: { $lt: oldestVersion } }] }
  if (await meta.set(older, { oldestVersion })) await wait(exclusionMs)
}
