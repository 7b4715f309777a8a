import type { EventLog } from '@fms/forms-store'

/** Events that are deleted in one step. */
const batchSize = 100

const dayMs = 24 * 60 * 60 * 1000

export interface PruneEventsOptions {
  retentionDays: number
  /** Of each log; 0 for no limit. */
  maxEvents: number
  now: Date
  signal: AbortSignal
}

/**
 * Deletes events older than `retentionDays`, and the oldest ones beyond `maxEvents`, in small batches. The store keeps those
 * that are not in the stream yet.
 */
export const pruneEvents = async (
  events: EventLog,
  { retentionDays, maxEvents, now, signal }: PruneEventsOptions,
): Promise<void> => {
  const before = new Date(now.getTime() - retentionDays * dayMs)
  while (!signal.aborted && (await events.prune(before, batchSize, maxEvents)) > 0);
}
