import type { EventLog } from '@fms/forms-store'
import { repeat } from '@fms/scheduling/repeat'

/** How long a checkpoint waits for others, in milliseconds. */
const delayMs = 200

/** The longest pause before a checkpoint that could not be stored is stored again, in milliseconds. */
const retryMs = 500

/** Stores checkpoints together and a little later: on SQLite, writes compete. A lost one only repeats events. */
export const createStreamCheckpoints = (events: EventLog, onError: (error: unknown) => void) => {
  /** How far this process has streamed each log, as long as the store does not know. */
  const checkpoints = new Map<string, number>()
  let hasFailed = false

  const store = async ([organizationId, sequence]: [string, number]) => {
    try {
      await events.markStreamed(organizationId, sequence)
      hasFailed = false
      if (checkpoints.get(organizationId) === sequence) checkpoints.delete(organizationId)
    } catch (error) {
      hasFailed = true
      onError(error)
    }
  }
  const storeAll = () => Promise.all([...checkpoints].map(store))
  const storing = repeat(retryMs, storeAll, onError, delayMs)

  return {
    /** The number of logs whose checkpoint is not stored yet. */
    get size(): number {
      return checkpoints.size
    },
    /** The last sequence of a log in the stream, as far as its checkpoint is not stored yet; 0 for none. */
    of: (organizationId: string): number => checkpoints.get(organizationId) ?? 0,
    /** Records that a log is in the stream up to a sequence. Stored soon. */
    set(organizationId: string, sequence: number): void {
      checkpoints.set(organizationId, sequence)
      storing.wake()
    },
    /** Stores all checkpoints now, unless the store was unavailable just now, and none that is set later. */
    async stop(): Promise<void> {
      await storing.stop()
      if (!hasFailed) await storeAll()
    },
  }
}
