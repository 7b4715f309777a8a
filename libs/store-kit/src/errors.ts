import { apiError } from '@fms/aip'

/** The disk of the store has no room for a change that grows it. Nothing was changed. */
export const storageFull = (cause?: unknown) =>
  apiError(
    'STORAGE_FULL',
    {},
    {
      cause,
      advice:
        'Its disk is full: free some room or enlarge it. Until then, creates, publishes and patches that grow a form get 503; reads, deletes and purges work.',
    },
  )

/**
 * The store is locked or out of reach; a retry may succeed. Nothing was changed, unless a connection broke between a
 * change of MongoDB and its acknowledgement. `advice` is what an operator has to check.
 */
export const storeUnavailable = (cause: unknown, advice?: string) =>
  apiError('STORE_UNAVAILABLE', {}, { cause, ...(advice !== undefined && { advice }) })

/** The server is standalone or too old; nothing was changed. @param advice the commands that change this. */
export const storeNotSupported = (cause: unknown, advice: string) =>
  apiError('STORE_NOT_SUPPORTED', {}, { cause, advice })

/** The store lacks migrations of this release. An operator has to run `formctl migrate`. */
export const storeNotMigrated = (store: string) => apiError('STORE_NOT_MIGRATED', { store })

/** A newer release has migrated the store beyond this one's schema. Upgrade the service, or restore a backup. */
export const storeSchemaTooNew = (
  store: string,
  knownVersion: number,
  stored: { version: number; oldestVersion: number },
) =>
  apiError('STORE_SCHEMA_TOO_NEW', {
    store,
    knownVersion: `${knownVersion}`,
    version: `${stored.version}`,
    oldestVersion: `${stored.oldestVersion}`,
  })
