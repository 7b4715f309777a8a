import { setImmediate } from 'node:timers/promises'
import type { ReadMask } from '@fms/aip'
import { FairQueue } from '@fms/service-kit'

/** Work at the same time, work of a user that waits, and all that waits. */
const limits = { concurrency: 16, maxPerKey: 1_000, maxTasks: 10_000 }

export interface TurnOptions {
  /** The user: one piece of its work is done at a time. */
  caller: string
  /** Aborts when the caller has disconnected. */
  signal: AbortSignal
}

/**
 * Does work that takes a few milliseconds of the event loop: one piece of a user at a time, round-robin among users. Other
 * requests are served in between, so many concurrent requests of one user delay no other.
 */
export class Turns {
  readonly #queue = new FairQueue(limits)

  /** @throws {ApiError} OVERLOADED when too much work waits; the signal's reason. */
  take<T>({ caller, signal }: TurnOptions, work: () => T | Promise<T>): Promise<T> {
    return this.#queue.run(caller, async () => {
      await setImmediate()
      signal.throwIfAborted()
      return work()
    })
  }
}

/** Pages of at most this many items, skipped ones included, take half a millisecond if they have no drafts. */
const shortPage = 100

/** Whether a page without drafts takes more than half a millisecond: 1,000 items take 5. */
export const isLongPage = ({ limit, skip }: { limit: number; skip: number }): boolean =>
  limit + skip > shortPage

/** Length of JSON that is cut to a mask at once, in characters: a fifth of a millisecond. */
const shortCut = 64 * 1024

/** Whether the cut of this JSON to a mask takes longer: up to 4 ms. */
export const isLongCut = (json: string, mask: ReadMask | undefined): boolean =>
  mask !== undefined && json.length > shortCut
