import { ApiError } from '@fms/aip'
import type { SchemaNote } from './schema-note.ts'

/**
 * The store is locked, full or out of reach; a retry may succeed. Nothing was changed, unless a connection broke between
 * a change of MongoDB and its acknowledgement.
 *
 * @param advice what an operator has to check, if the cause shows it.
 */
export const storeUnavailable = (cause: unknown, advice?: string) =>
  new ApiError(
    'UNAVAILABLE',
    'STORE_UNAVAILABLE',
    'The store cannot be reached just now. Repeat the request in a moment.',
    {
      retryAfterSeconds: 1,
      cause,
      ...(advice !== undefined && { advice }),
    },
  )

/**
 * The store's server lacks what this release needs: it is a standalone MongoDB, or too old. Nothing was changed.
 *
 * @param advice the commands with which an operator makes it suitable.
 */
export const storeNotSupported = (cause: unknown, advice: string) =>
  new ApiError(
    'UNAVAILABLE',
    'STORE_NOT_SUPPORTED',
    'The server of the store lacks what this release needs. An operator has to set it up as formctl doctor says.',
    { retryAfterSeconds: 1, cause, advice },
  )

/** The store lacks migrations of this release. An operator has to run `formctl migrate`. */
export const storeNotMigrated = (store: string) =>
  new ApiError(
    'UNAVAILABLE',
    'STORE_NOT_MIGRATED',
    `The ${store} store is not prepared for this release. Run formctl migrate once, then repeat the request.`,
    { metadata: { store }, retryAfterSeconds: 1 },
  )

/**
 * A newer release has migrated the store to a schema that this one cannot use. An operator has to upgrade the service,
 * or restore a backup.
 */
export const storeSchemaTooNew = (store: string, knownVersion: number, note: SchemaNote) =>
  new ApiError(
    'UNAVAILABLE',
    'STORE_SCHEMA_TOO_NEW',
    `The ${store} store has version ${note.version} of its schema, for releases with version ${note.oldestVersion} or later. This release has version ${knownVersion}. Upgrade this service, or restore the backup from before the upgrade.`,
    {
      metadata: {
        store,
        knownVersion: String(knownVersion),
        version: String(note.version),
        oldestVersion: String(note.oldestVersion),
      },
      retryAfterSeconds: 1,
    },
  )
