import { storeNotMigrated } from '../errors.ts'
import { assertCompatible, schemaCheckMs } from '../schema-version.ts'
import type { MongoCollection } from './mongodb-collection.ts'

/** An index of a collection; the name is unique in the collection. */
export interface MongoIndex {
  collection: string
  name: string
  key: Readonly<Record<string, 1 | -1>>
  unique?: true
  /** Leaves out documents that have none of the fields. */
  sparse?: true
  /** Leaves out documents without this field. The planner uses the index for equality queries on the field. */
  ifPresent?: string
}

/** The schema of a store. Each change of its indexes has a new version. */
export interface MongoSchema {
  /** Name of the store, unique in its database. */
  store: string
  version: number
  /**
   * The lowest schema version of a release that may use a store of this version. New indexes and collections do not
   * raise it. A field that readers depend on does, since earlier releases do not write the field.
   */
  oldestVersion: number
  indexes: readonly MongoIndex[]
}

/** The schema version of a store. `version` is set once its indexes exist. */
export interface SchemaDocument {
  _id: string
  version: number
  /** Default: `version`. */
  oldestVersion?: number
}

/** The collection of the schema versions of all stores in a database. */
export const metaCollection = 'meta'

/** Undefined before the first migration. @throws {ApiError} STORE_SCHEMA_TOO_NEW for an excluded release. */
export const readCompatibleVersion = async (
  meta: MongoCollection<SchemaDocument>,
  schema: MongoSchema,
): Promise<SchemaDocument | undefined> => {
  const found = await meta.findOne({ _id: schema.store })
  if (found) {
    const { version, oldestVersion = version } = found
    assertCompatible(schema.store, schema.version, { version, oldestVersion })
  }
  return found
}

/** Checks that the schema's indexes exist. @throws {ApiError} STORE_NOT_MIGRATED or STORE_SCHEMA_TOO_NEW. */
export const assertMigrated = async (
  meta: MongoCollection<SchemaDocument>,
  schema: MongoSchema,
): Promise<void> => {
  const found = await readCompatibleVersion(meta, schema)
  if ((found?.version ?? 0) < schema.version) throw storeNotMigrated(schema.store)
}

/** Checks before requests, at most once a second, that this release may use the store. */
export class SchemaGuard {
  readonly #meta: MongoCollection<SchemaDocument>
  readonly #schema: MongoSchema
  #checkedUntilMs = Number.NEGATIVE_INFINITY
  #check: Promise<void> | undefined

  /** @param meta a collection that does not use this guard. */
  constructor(meta: MongoCollection<SchemaDocument>, schema: MongoSchema) {
    this.#meta = meta
    this.#schema = schema
  }

  /** Undefined if the last check is recent. @throws {ApiError} STORE_SCHEMA_TOO_NEW, STORE_UNAVAILABLE. */
  checkIfDue(): Promise<void> | undefined {
    if (performance.now() < this.#checkedUntilMs) return undefined
    this.#check ??= this.#read().finally(() => {
      this.#check = undefined
    })
    return this.#check
  }

  async #read(): Promise<void> {
    const startedAt = performance.now()
    await readCompatibleVersion(this.#meta, this.#schema)
    this.#checkedUntilMs = startedAt + schemaCheckMs
  }
}
