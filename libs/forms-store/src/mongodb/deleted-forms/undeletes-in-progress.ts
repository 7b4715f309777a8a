import type { DeletionDocument, FormsCollections } from '../documents.ts'
import type { RestorableNote } from './find-deleted.ts'

/** How long an undelete excludes others, and a purge, in milliseconds. Its insert does not take this long. */
export const maxUndeleteMs = 15_000

/** How many undeletes a process remembers at most. */
const maxUndeletes = 10_000

/**
 * The undeletes that a process has seen in notes. Nothing but the time that passes in this process tells that an undelete
 * is over: the clocks of other processes may be wrong.
 */
class UndeletesInProgress {
  readonly #maxUndeleteMs: number
  /** When this process saw an undelete for the first time, in the order of these times. */
  readonly #firstSeen = new Map<string, number>()

  constructor(maxMs = maxUndeleteMs) {
    this.#maxUndeleteMs = maxMs
  }

  /** Whether the undelete of a note may be about to insert the form. */
  has({ _id, undeleteId, undeleteTime }: RestorableNote): boolean {
    if (!undeleteId) return false
    const key = `${_id}/${undeleteId}/${undeleteTime}`
    const now = performance.now()
    const firstSeen = this.#firstSeen.get(key) ?? now
    this.#firstSeen.set(key, firstSeen)
    this.#evictOldest()
    return now - firstSeen < this.#maxUndeleteMs
  }

  #evictOldest(): void {
    if (this.#firstSeen.size <= maxUndeletes) return
    const [oldest] = this.#firstSeen.keys()
    this.#firstSeen.delete(oldest!)
  }
}

const byCollections = new WeakMap<FormsCollections, UndeletesInProgress>()

/** The undeletes that a process has seen in a store. @param maxMs for tests, in the first call for a store. */
export const undeletesInProgress = (collections: FormsCollections, maxMs?: number): UndeletesInProgress => {
  const undeletes = byCollections.get(collections) ?? new UndeletesInProgress(maxMs)
  byCollections.set(collections, undeletes)
  return undeletes
}

/**
 * The query that finds a note as it was read: neither purged nor rejected since, and with the same claim of an undelete or
 * none. Undeletes, purges and counts of replies update notes on this condition.
 */
export const sameClaim = ({ organizationId, _id, undeleteId, undeleteTime }: DeletionDocument) => ({
  organizationId,
  _id,
  purgeTime: { $gt: 0 },
  undeleteId: undeleteId ?? null,
  undeleteTime: undeleteTime ?? null,
})
