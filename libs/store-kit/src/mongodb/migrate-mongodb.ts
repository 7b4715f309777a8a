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

/** Index builds and counts may take hours. A build whose connection breaks continues; the next migration waits for it. */
const withoutTimeouts = {
  socketTimeoutMS: 0,
  wtimeoutMS: 0,
  serverSelectionTimeoutMS: 30_000,
  engineTimeoutMs: 24 * 60 * 60_000,
}

/** A step that changes documents. It may run again after a kill at any point. */
export interface ChangeDocuments {
  title: string
  /** @param onChange callback for the number of documents that were changed since the last call. */
  run(database: MongoDatabase, onChange: (count: number) => void): Promise<void>
}

export interface MigrateOptions {
  /** Steps that change documents, in the order in which they run. */
  changes?: readonly ChangeDocuments[]
  onStep?: ((step: MigrationStep) => void) | undefined
  /** For tests: how long to wait for excluded releases, in milliseconds. */
  exclusionMs?: number
}

interface Step {
  title: string
  run(onChange: (count: number) => void): Promise<unknown>
}

/**
 * Migrates a store: excludes releases that cannot use the new schema, changes documents, creates the missing indexes,
 * and records the version. It may be killed at any point, run again, and run concurrently.
 *
 * @throws {ApiError} STORE_UNAVAILABLE, STORE_NOT_SUPPORTED or STORE_SCHEMA_TOO_NEW, before it changes anything.
 */
export const migrateMongodb = async (
  url: string,
  schema: MongoSchema,
  { changes = [], onStep, exclusionMs = defaultExclusionMs }: MigrateOptions = {},
): Promise<Migration> => {
  const { store, version, indexes } = schema
  await assertReachable(url, schema)
  await using database = new MongoDatabase(url, undefined, withoutTimeouts)
  const meta = database.collection<SchemaDocument>(metaCollection)
  const steps: Step[] = [
    { title: 'excluding earlier releases', run: () => excludeReleases(meta, schema, exclusionMs) },
    ...changes.map(({ title, run }): Step => ({ title, run: (onChange) => run(database, onChange) })),
    ...indexes.map((index) => ({ title: `index ${index.name}`, run: () => database.createIndex(index) })),
  ]
  await runSteps(store, steps, onStep)
  // The version of a newer release stays.
  await meta.set({ _id: store, version: { $lt: version } }, { version })
  return { engine: 'MongoDB', version }
}

/** Fails within seconds, before the first step, where the steps themselves wait for an election. */
const assertReachable = async (url: string, schema: MongoSchema): Promise<void> => {
  await using database = new MongoDatabase(url)
  await readCompatibleVersion(database.collection<SchemaDocument>(metaCollection), schema)
}

const runSteps = async (
  store: string,
  steps: readonly Step[],
  onStep: MigrateOptions['onStep'],
): Promise<void> => {
  for (const [index, { title, run }] of steps.entries()) {
    let changed = 0
    const report = () => onStep?.({ store, title, number: index + 1, of: steps.length, changed })
    report()
    await run((count) => {
      changed += count
      if (count > 0) report()
    })
  }
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
