import { setTimeout as delay } from 'node:timers/promises'
import { type FormEvent, parseSequence } from '@fms/contracts'
import type { EventLog, UnstreamedLog } from '@fms/forms-store'
import type { EventPublisher } from './publish-events.ts'
import { createStreamedMarks } from './streamed-marks.ts'

/** Logs that are streamed at the same time, so that a slow one does not delay the others. */
const maxLogs = 32

/** Events that are read at once. */
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
  /** Whether the stream accepts batches. */
  allowsBatches: () => boolean
  /** Called when a log is no longer streamed and `startLogs` may find another one. */
  onFree: () => void
  /** Called with the error of an attempt, which is then repeated. */
  onError: (error: unknown) => void
}

/** Publishes logs to the stream, each in the order of its sequences. */
export const createStreaming = ({ events, publisher, allowsBatches, onFree, onError }: StreamingDeps) => {
  const stopping = new AbortController()
  const running = new Map<string, Promise<void>>()
  const marks = createStreamedMarks(events, onError)
  let areOthersBehind = false

  /** Each event waits for the one before: a later one must not be stored before one whose publish fails. */
  const publishInTurn = async (organizationId: string, batch: readonly FormEvent[]) => {
    for (const event of batch) {
      if (stopping.signal.aborted) return
      await publisher.one(organizationId, event)
      marks.set(organizationId, parseSequence(event.sequence))
    }
  }
  const publishAll = async (organizationId: string, batch: readonly FormEvent[]) => {
    if (batch.length < minBatch || !allowsBatches()) return publishInTurn(organizationId, batch)
    try {
      await publisher.batch(organizationId, batch)
      marks.set(organizationId, parseSequence(batch.at(-1)!.sequence))
    } catch {
      await publishInTurn(organizationId, batch)
    }
  }
  const streamLog = async ({ organizationId }: UnstreamedLog, streamedSequence: number) => {
    let from = streamedSequence + 1
    while (!stopping.signal.aborted) {
      const batch = await events.read({ organizationId, from, limit: batchSize })
      await publishAll(organizationId, batch)
      if (batch.length < batchSize) return
      from = parseSequence(batch.at(-1)!.sequence) + 1
    }
  }
  const start = (log: UnstreamedLog) => {
    const { organizationId } = log
    const streamedSequence = Math.max(log.streamedSequence, marks.of(organizationId))
    const attempt = streamLog(log, streamedSequence).catch(async (error) => {
      if (stopping.signal.aborted) return
      onError(error)
      await delay(retryMs, undefined, { signal: stopping.signal }).catch(() => {})
    })
    const end = () => {
      running.delete(organizationId)
      if (areOthersBehind) onFree()
    }
    running.set(organizationId, attempt.then(end))
  }

  return {
    /** Starts to stream the logs that are behind, as far as the limit allows. */
    async startLogs(): Promise<void> {
      // Logs that are being streamed, and those whose mark is not stored yet, must not hide others.
      const unstreamed = await events.findUnstreamed(maxLogs + running.size + marks.size)
      const behind = unstreamed.filter((log) => log.lastSequence > marks.of(log.organizationId))
      const waiting = behind.filter(({ organizationId }) => !running.has(organizationId))
      const started = waiting.slice(0, maxLogs - running.size)
      areOthersBehind = started.length < behind.length
      for (const log of started) start(log)
    },
    /** Ends after the events whose publish has begun, or without their PubAcks. */
    async stop(): Promise<void> {
      stopping.abort()
      await Promise.race([Promise.all(running.values()), delay(stopMs, undefined, { ref: false })])
      await marks.stop()
    },
  }
}
