import { setTimeout as wait } from 'node:timers/promises'
import { ApiError } from '@fms/aip'

/** How long a start waits for the note of a store, in milliseconds. */
const patienceMs = 2_000

interface OpenedStore {
  ping(): Promise<void>
  close(): Promise<void>
}

/**
 * Refuses a store at the start that this release cannot use. One that is away or not migrated is opened all the same:
 * it answers 503 until it can serve.
 *
 * @throws {ApiError} STORE_SCHEMA_TOO_NEW; then the store is closed.
 */
export const openUnlessTooNew = async <S extends OpenedStore>(store: S): Promise<S> => {
  try {
    await Promise.race([store.ping(), wait(patienceMs, undefined, { ref: false })])
  } catch (error) {
    if (error instanceof ApiError && error.reason === 'STORE_SCHEMA_TOO_NEW') {
      await store.close()
      throw error
    }
  }
  return store
}
