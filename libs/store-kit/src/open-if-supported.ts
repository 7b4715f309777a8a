import { setTimeout as wait } from 'node:timers/promises'
import { ApiError } from '@fms/aip'

/** How long a start waits for the check of a store, in milliseconds. */
const checkTimeoutMs = 2_000

/** Reasons for which a store is not opened: an operator has to change this service, or the server of the store. */
const refusals = ['STORE_SCHEMA_TOO_NEW', 'STORE_NOT_SUPPORTED']

/**
 * Checks at the start that this release can use a store. A store that is out of reach or not migrated is opened as
 * well: its requests fail with 503 until it is ready.
 *
 * @throws {ApiError} STORE_SCHEMA_TOO_NEW or STORE_NOT_SUPPORTED, after it has closed the store.
 */
export const openIfSupported = async <S extends { ping(): Promise<void>; close(): Promise<void> }>(
  store: S,
): Promise<S> => {
  try {
    await Promise.race([store.ping(), wait(checkTimeoutMs, undefined, { ref: false })])
  } catch (error) {
    if (error instanceof ApiError && refusals.includes(error.reason)) {
      await store.close()
      throw error
    }
  }
  return store
}
