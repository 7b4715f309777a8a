import { setTimeout as delay } from 'node:timers/promises'
import { eventContentType, eventSubject, type FormEvent, parseSequence } from '@fms/contracts'
import type { EventLog, UnstreamedLog } from '@fms/forms-store'
import { jetstream } from '@nats-io/jetstream'
import { headers, type NatsConnection } from 'nats'
import { observeRelay } from './event-metrics.ts'

/** Logs that are streamed at the same time, so that a slow one does not delay the others. */
const maxLogs = 32

/** Events that are read, published and then marked together. */
const batchSize = 100

/** Timeout of one publish, in milliseconds. Then the event is published again, with the same `Nats-Msg-Id`. */
const publishTimeoutMs = 2_000

/** The pause of a log after a failure, in milliseconds. */
const retryMs = 1_000

export interface StreamingDeps {
  events: EventLog
  nats: NatsConnection
  /** Called when a log has been streamed, or has failed and had its pause: others may be waiting. */
  onFree: () => void
  /** Called with what an attempt throws. */
  onError: (error: unknown) => void
}

/** Publishes logs to the stream, each in the order of its sequences. */
export const createStreaming = ({ events, nats, onFree, onError }: StreamingDeps) => {
  const stopping = new AbortController()
  const running = new Map<string, Promise<void>>()
  const publish = eventPublisher(nats)

  const streamLog = async ({ organizationId, streamedSequence }: UnstreamedLog) => {
    for (let streamed = streamedSequence; !stopping.signal.aborted; ) {
      const batch = await events.read({ organizationId, from: streamed + 1, limit: batchSize })
      if (batch.length === 0) return
      const before = streamed
      try {
        for (const event of batch) {
          if (stopping.signal.aborted) break
          // Each waits for the one before: a later event must not be stored before one whose publish fails.
          await publish(organizationId, event)
          streamed = parseSequence(event.sequence)
        }
      } finally {
        if (streamed > before) await events.markStreamed(organizationId, streamed)
      }
    }
  }
  const start = (log: UnstreamedLog) => {
    const attempt = streamLog(log)
      .catch(async (error) => {
        onError(error)
        await delay(retryMs, undefined, { signal: stopping.signal }).catch(() => {})
      })
      .finally(() => {
        running.delete(log.organizationId)
        onFree()
      })
    running.set(log.organizationId, attempt)
  }

  return {
    /** Starts to stream the logs that are behind, as far as the limit allows. */
    async startLogs(): Promise<void> {
      const free = maxLogs - running.size
      if (free === 0) return
      const behind = await events.findUnstreamed(2 * maxLogs)
      const waiting = behind.filter(({ organizationId }) => !running.has(organizationId))
      for (const log of waiting.slice(0, free)) start(log)
    },
    /** Ends after the events whose publish has begun. */
    async stop(): Promise<void> {
      stopping.abort()
      await Promise.all(running.values())
    },
  }
}

/** Returns a function that publishes an event, and resolves once the stream has stored it. */
const eventPublisher = (nats: NatsConnection) => {
  const client = jetstream(nats)
  return async (organizationId: string, event: FormEvent): Promise<void> => {
    const eventHeaders = headers()
    eventHeaders.set('Content-Type', eventContentType)
    const { duplicate } = await client.publish(
      eventSubject(organizationId, event.type),
      JSON.stringify(event),
      { msgID: event.id, headers: eventHeaders, timeout: publishTimeoutMs },
    )
    if (!duplicate) observeRelay(event)
  }
}
