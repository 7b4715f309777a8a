import type { EventLog } from '@fms/forms-store'

/** How long a checkpoint waits for others, in milliseconds. */
const delayMs = 200

/** Stores checkpoints together and a little later: on SQLite, writes compete. A lost one only repeats events. */
export const createStreamCheckpoints = (events: EventLog, onError: (error: unknown) => void) => {
  /** How far this process has streamed each log, as long as the store does not know. */
  const checkpoints = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined
  let storing: Promise<unknown> = Promise.resolve()
  let isStopped = false
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
  const storeAll = async () => {
    await Promise.all([...checkpoints].map(store))
    timer = undefined
    if (checkpoints.size > 0) schedule()
  }
  const schedule = () => {
    if (isStopped) return
    timer ??= setTimeout(() => {
      storing = storeAll()
    }, delayMs)
  }

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
      schedule()
    },
    /** Stores all checkpoints now, unless the store was unavailable just now, and none that is set later. */
    async stop(): Promise<void> {
      isStopped = true
      clearTimeout(timer)
      await storing
      if (!hasFailed) await Promise.all([...checkpoints].map(store))
    },
  }
}
