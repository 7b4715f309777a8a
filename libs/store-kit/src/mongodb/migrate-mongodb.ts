import { setTimeout as wait } from 'node:timers/promises'
import { schemaCheckMs } from '../schema-version.ts'
import type { MigrationStep } from '../store-state.ts'
import type { Migration } from '../store-url.ts'
import type { MongoCollection } from './mongodb-collection.ts'
import { MongoDatabase } from './mongodb-database.ts'
import {
  type MongoSchema,
  metaCollection,
  readCompatibleVersion,
  type SchemaDocument,
} from './mongodb-schema.ts'

/** The time in which excluded releases notice the new schema and finish their requests. */
const defaultExclusionMs = 2 * schemaCheckMs

/** Index builds may take hours. A build whose connection breaks continues; the next migration waits for it. */
const withoutTimeouts = {
  socketTimeoutMS: 0,
  wtimeoutMS: 0,
  serverSelectionTimeoutMS: 30_000,
  engineTimeoutMs: 24 * 60 * 60_000,
}

interface MigrateOptions {
  onStep?: ((step: MigrationStep) => void) | undefined
  /** For tests: how long to wait for excluded releases, in milliseconds. */
  exclusionMs?: number
}

/**
 * Migrates a store: excludes releases that cannot use the new schema, creates the missing indexes, and records the
 * version. It may be killed at any point, run again, and run concurrently.
 *
 * @throws {ApiError} STORE_UNAVAILABLE, STORE_NOT_SUPPORTED or STORE_SCHEMA_TOO_NEW, before it changes anything.
 */
export const migrateMongodb = async (
  url: string,
  schema: MongoSchema,
  { onStep, exclusionMs = defaultExclusionMs }: MigrateOptions = {},
): Promise<Migration> => {
  const { store, version, indexes } = schema
  await assertReachable(url, schema)
  await using database = new MongoDatabase(url, undefined, withoutTimeouts)
  const meta = database.collection<SchemaDocument>(metaCollection)
  const steps = [
    { title: 'excluding earlier releases', run: () => excludeReleases(meta, schema, exclusionMs) },
    ...indexes.map((index) => ({ title: `index ${index.name}`, run: () => database.createIndex(index) })),
  ]
  for (const [index, { title, run }] of steps.entries()) {
    onStep?.({ store, title, number: index + 1, of: steps.length })
    await run()
  }
  // The version of a newer release stays.
  await meta.set({ _id: store, version: { $lt: version } }, { version })
  return { engine: 'MongoDB', version }
}

/** Fails within seconds, before the first step, where the steps themselves wait for an election. */
const assertReachable = async (url: string, schema: MongoSchema): Promise<void> => {
  await using database = new MongoDatabase(url)
  await readCompatibleVersion(database.collection<SchemaDocument>(metaCollection), schema)
}

/** Raises `oldestVersion`, and waits while releases that it excludes may be running. */
const excludeReleases = async (
  meta: MongoCollection<SchemaDocument>,
  schema: MongoSchema,
  exclusionMs: number,
): Promise<void> => {
  const { store: _id, oldestVersion } = schema
  const stored = await readCompatibleVersion(meta, schema)
  if (!stored && (await meta.insert({ _id, version: 0, oldestVersion }))) return
  const older = { _id, $or: [{ oldestVersion: null }, { oldestVersion: { $lt: oldestVersion } }] }
  const isRaised = await meta.set(older, { oldestVersion })
  // Also waits if an earlier migration was killed during its wait.
  const isUnfinished = stored && stored.version > 0 && stored.version < oldestVersion
  if (isRaised || isUnfinished) await wait(exclusionMs)
}
