import type { FormPath } from '@fms/contracts'

/** Which revisions of a form may be deleted: see {@link RevisionGrowth.prune}. */
export interface PruneRule {
  /** How many of the newest revisions of the form stay, at least 1. */
  keep: number
  /** Revisions from this time on stay. The store lowers it to {@link minPruneAgeMs} ago. */
  before: Date
}

/** A number of revisions, and the bytes of their snapshots as JSON in UTF-8. */
export interface RevisionsSize {
  revisions: number
  bytes: number
}

export interface FormRevisions extends FormPath {
  publicId: string
  /** At most {@link maxCountedRevisions}. */
  revisions: number
}

/**
 * In milliseconds: a day. A publish command finds its revision when it is delivered again, at most ten minutes after the
 * request, and when a caller repeats its `requestId`. The rest allows for clocks that differ.
 */
export const minPruneAgeMs = 24 * 60 * 60 * 1000

/** A form with more revisions has many. The indexes that find these forms contain this number. */
export const manyRevisions = 10_000

/** Forms of which `formsWithMany` counts the revisions, at most. */
export const maxCountedForms = 1_000

export const maxCountedRevisions = 100_000

/**
 * Measures and prunes revisions, which accumulate as long as forms are published.
 *
 * @throws {ApiError} STORE_UNAVAILABLE from any method when the engine is unreachable.
 */
export interface RevisionGrowth {
  /** The forms of an organization that were published more than `keep` times, ordered by `publicId`. */
  formsToPrune(organizationId: string, keep: number): AsyncIterable<FormPath>

  /** What repeated calls of {@link prune} would delete now. */
  prunable(form: FormPath, rule: PruneRule): Promise<RevisionsSize>

  /**
   * Deletes a batch of a form's oldest revisions, up to the first one that has to stay. These stay: the `keep` newest
   * ones; those from `before` on; the live one and later ones, since a repeat of their publish may still make them live.
   * After an unpublish that is the latest one. The commands of deleted revisions can publish again.
   *
   * Any number of processes may prune and change the form concurrently. After a kill, repeat the call.
   *
   * @returns what was deleted; 0 revisions if there are no more.
   */
  prune(form: FormPath, rule: PruneRule): Promise<RevisionsSize>

  /**
   * The forms of all organizations with more than {@link manyRevisions} revisions, at most `limit`, those that were
   * published most often first. Reads an index that has only forms with that many publishes, and counts at most
   * {@link maxCountedRevisions} index entries of each.
   */
  formsWithMany(limit: number): Promise<FormRevisions[]>

  /** All revisions in the store, including those of deleted forms that are not cleared yet. Counts nothing. */
  total(): Promise<RevisionsSize>
}

export const withMinAge = ({ keep, before }: PruneRule, now = Date.now()): PruneRule => ({
  keep: Math.max(1, keep),
  before: new Date(Math.min(before.getTime(), now - minPruneAgeMs)),
})

export const noRevisions: RevisionsSize = { revisions: 0, bytes: 0 }

/** Adds up batches of revisions. @param findAfter the batch after a number. Other work runs between two batches. */
export const measureBatches = async <R extends Sized & { number?: unknown }>(
  findAfter: (number: number) => readonly R[] | Promise<readonly R[]>,
): Promise<RevisionsSize> => {
  let [total, after] = [noRevisions, 0]
  for (;;) {
    const batch = await findAfter(after)
    if (batch.length === 0) return total
    total = addSizes(total, sizeOf(batch))
    after = batch.at(-1)!.number as number
    await new Promise((resolve) => setImmediate(resolve))
  }
}

export const addSizes = (a: RevisionsSize, b: RevisionsSize): RevisionsSize => ({
  revisions: a.revisions + b.revisions,
  bytes: a.bytes + b.bytes,
})

interface Sized {
  bytes?: unknown
}

export const sizeOf = (revisions: readonly Sized[]): RevisionsSize => ({
  revisions: revisions.length,
  bytes: revisions.reduce((sum, { bytes }) => sum + (bytes as number), 0),
})
