import { storeSchemaTooNew } from './errors.ts'

export interface SchemaVersion {
  /** Version of the store's schema; 0 for none. */
  version: number
  /** The lowest schema version of a release that may read and write the store. */
  oldestVersion: number
}

/** How long a process uses a store before it reads its schema version again, in milliseconds. */
export const schemaCheckMs = 1_000

/** @throws {ApiError} STORE_SCHEMA_TOO_NEW if this release knows less than the store needs (decision 26). */
export const assertCompatible = (store: string, knownVersion: number, stored: SchemaVersion): void => {
  if (knownVersion < stored.oldestVersion) throw storeSchemaTooNew(store, knownVersion, stored)
}
