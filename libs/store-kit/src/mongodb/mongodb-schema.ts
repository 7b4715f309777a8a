import { storeNotMigrated } from '../errors.ts'
import { demandUsable, schemaCheckMs } from '../schema-note.ts'
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
  /**
   * The lowest version of a release that may use a store of this version. New indexes and collections leave it as it
   * is; a field that readers depend on raises it, since earlier releases leave the field out.
   */
  oldestVersion: number
  indexes: readonly MongoIndex[]
}

/** What is noted of a store: `version` once its indexes are there. */
export interface SchemaDocument {
  _id: string
  version: number
  /** Absent where a release before these notes wrote it: then its `version` is the oldest. */
  oldestVersion?: number
}

export const metaCollection = 'meta'

/** @throws {ApiError} STORE_SCHEMA_TOO_NEW where a newer release has shut this one out. */
export const demandUsableSchema = async (
  meta: MongoCollection<SchemaDocument>,
  schema: MongoSchema,
): Promise<SchemaDocument | undefined> => {
  const found = await meta.findOne({ _id: schema.store })
  if (found) {
    const { version, oldestVersion = version } = found
    demandUsable(schema.store, schema.version, { version, oldestVersion })
  }
  return found
}

/** @throws {ApiError} STORE_NOT_MIGRATED unless all of the schema's indexes are there; STORE_SCHEMA_TOO_NEW. */
export const assertSchema = async (
  meta: MongoCollection<SchemaDocument>,
  schema: MongoSchema,
): Promise<void> => {
  const found = await demandUsableSchema(meta, schema)
  if ((found?.version ?? 0) < schema.version) throw storeNotMigrated(schema.store)
}

/** Admits requests while the store admits this release. Reads the store's note once a second while there are requests. */
export class SchemaGuard {
  readonly #meta: MongoCollection<SchemaDocument>
  readonly #schema: MongoSchema
  #admittedUntilMs = Number.NEGATIVE_INFINITY
  #check: Promise<void> | undefined

  /** @param meta of a database without this guard. */
  constructor(meta: MongoCollection<SchemaDocument>, schema: MongoSchema) {
    this.#meta = meta
    this.#schema = schema
  }

  /**
   * @returns undefined when the last check is recent enough.
   * @throws {ApiError} STORE_SCHEMA_TOO_NEW, or STORE_UNAVAILABLE when the note cannot be read.
   */
  admit(): Promise<void> | undefined {
    if (performance.now() < this.#admittedUntilMs) return undefined
    this.#check ??= this.#read().finally(() => {
      this.#check = undefined
    })
    return this.#check
  }

  async #read(): Promise<void> {
    const begun = performance.now()
    await demandUsableSchema(this.#meta, this.#schema)
    this.#admittedUntilMs = begun + schemaCheckMs
  }
}
