import type { EventLog } from '@fms/forms-store'

/** Events that are deleted in one step. */
const batchSize = 100

const dayMs = 24 * 60 * 60 * 1000

/** Deletes events older than `retentionDays` in small batches. The store keeps those that are not in the stream yet. */
export const pruneEvents = async (
  events: EventLog,
  { retentionDays, now, signal }: { retentionDays: number; now: Date; signal: AbortSignal },
): Promise<void> => {
  const before = new Date(now.getTime() - retentionDays * dayMs)
  while (!signal.aborted && (await events.prune(before, batchSize)) > 0);
}
