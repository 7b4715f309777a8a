import { setImmediate } from 'node:timers/promises'
import { FairQueue } from '@fms/service-kit'

/** Pages of at most this many items, skipped ones included, are read at once: half a millisecond. */
const shortPage = 100

/** Pages that are read at the same time, those of a user that wait, and all that wait. */
const limits = { concurrency: 16, maxPerKey: 1_000, maxTasks: 10_000 }

export interface TurnOptions {
  /** The user: one of its pages is read at a time. */
  caller: string
  /** Aborts when the caller has disconnected. */
  signal: AbortSignal
}

/**
 * Reads pages without drafts, which take up to 5 ms of the event loop each: one of a user at a time, round-robin among
 * users. Other requests are served between them, so many concurrent pages of one user delay no other.
 */
export class PageTurns {
  readonly #queue = new FairQueue(limits)

  /**
   * Calls `read` when it is the page's turn. It should include writing the JSON.
   *
   * @throws {ApiError} OVERLOADED when too many pages wait; the signal's reason.
   */
  take<T>(
    { limit, skip }: { limit: number; skip: number },
    { caller, signal }: TurnOptions,
    read: () => Promise<T>,
  ): Promise<T> {
    if (limit + skip <= shortPage) return read()
    return this.#queue.run(caller, async () => {
      await setImmediate()
      signal.throwIfAborted()
      return read()
    })
  }
}
