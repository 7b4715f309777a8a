import { setTimeout as delay } from 'node:timers/promises'
import { type FormEvent, parseSequence } from '@fms/contracts'
import type { EventLog } from '@fms/forms-store'
import type { EventPublisher } from './publish-events.ts'
import { createStreamCheckpoints } from './stream-checkpoints.ts'

/** Logs that are streamed at the same time, so that a slow one does not delay the others. */
const maxLogs = 32

/** Logs that one look finds. Beyond it, the others are found once these have been streamed. */
const maxFound = 1_000

const batchSize = 100

/** Fewer events are published one after another, because each batch has a fixed cost in NATS. */
const minBatch = 10

/** How long a stop waits for PubAcks, in milliseconds. Events without one are published again later. */
const stopMs = 2_000

/** The pause of a log after a failure, in milliseconds. */
const retryMs = 1_000

export interface StreamingDeps {
  events: EventLog
  publisher: EventPublisher
  allowsBatches: () => boolean
  /** Called when a batch of a log is streamed and `startLogs` may find another one. */
  onFree: () => void
  onError: (error: unknown) => void
}

/** Publishes logs to the stream, each in the order of its sequences. */
export const createStreaming = ({ events, publisher, allowsBatches, onFree, onError }: StreamingDeps) => {
  const stopping = new AbortController()
  const running = new Map<string, Promise<void>>()
  const checkpoints = createStreamCheckpoints(events, onError)
  /** Logs that are behind, in the order in which they were found: each gets its turn, however many are behind. */
  let waiting: string[] = []
  let isLookDue = false

  /** Each event waits for the one before: a later one must not be stored before one whose publish fails. */
  const publishInTurn = async (organizationId: string, batch: readonly FormEvent[]) => {
    for (const event of batch) {
      if (stopping.signal.aborted) return
      await publisher.one(organizationId, event)
      checkpoints.set(organizationId, parseSequence(event.sequence))
    }
  }
  /** The first sequence that is not known to be in the stream. Another publisher may stream the same log. */
  const nextOf = async (organizationId: string) => {
    // Before the request to the store: once the store has the checkpoint, `checkpoints` has it no more.
    const own = checkpoints.of(organizationId)
    return Math.max(own, await events.streamedSequence(organizationId)) + 1
  }
  const publishAll = async (organizationId: string, batch: readonly FormEvent[]) => {
    if (batch.length < minBatch || !allowsBatches()) return publishInTurn(organizationId, batch)
    try {
      await publisher.batch(organizationId, batch)
      checkpoints.set(organizationId, parseSequence(batch.at(-1)!.sequence))
    } catch {
      const next = await nextOf(organizationId)
      const remaining = batch.filter(({ sequence }) => parseSequence(sequence) >= next)
      await publishInTurn(organizationId, remaining)
    }
  }
  /** Publishes a batch. @returns whether more may follow. */
  const streamLog = async (organizationId: string) => {
    const from = await nextOf(organizationId)
    const batch = await events.read({ organizationId, from, limit: batchSize })
    await publishAll(organizationId, batch)
    return batch.length === batchSize
  }
  const start = (organizationId: string) => {
    const attempt = streamLog(organizationId).catch(async (error) => {
      if (stopping.signal.aborted) return false
      onError(error)
      await delay(retryMs, undefined, { signal: stopping.signal }).catch(() => {})
      return false
    })
    const end = (isBehind: boolean) => {
      running.delete(organizationId)
      // The next look finds it again, and those that are behind since the last one.
      isLookDue ||= isBehind
      if (!stopping.signal.aborted && (waiting.length > 0 || isLookDue)) onFree()
    }
    running.set(organizationId, attempt.then(end))
  }
  const startWaiting = () => {
    const started = waiting.splice(0, maxLogs - running.size)
    for (const organizationId of started) start(organizationId)
  }
  const findWaiting = async () => {
    // Logs that are being streamed, and those whose checkpoint is not stored yet, must not hide others.
    const found = await events.findUnstreamed(maxFound + running.size + checkpoints.size)
    const behind = found.filter((log) => log.lastSequence > checkpoints.of(log.organizationId))
    waiting = behind.map(({ organizationId }) => organizationId).filter((id) => !running.has(id))
    isLookDue = waiting.length < behind.length
  }

  return {
    /** Starts to stream the logs that are behind, as far as the limit allows. */
    async startLogs(): Promise<void> {
      isLookDue = true
      startWaiting()
      if (waiting.length > 0) return
      await findWaiting()
      startWaiting()
    },
    async stop(): Promise<void> {
      stopping.abort()
      await Promise.race([Promise.all(running.values()), delay(stopMs, undefined, { ref: false })])
      await checkpoints.stop()
    },
  }
}
