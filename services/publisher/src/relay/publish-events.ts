import { eventContentType, eventSubject, type FormEvent } from '@fms/contracts'
import { jetstream } from '@nats-io/jetstream'
import { headers, type NatsConnection } from 'nats'
import { observeRelay } from './event-metrics.ts'

const timeoutMs = 2_000

/** Timeout of the PubAck of a batch, in milliseconds: NATS syncs each of its messages, after those of other batches. */
const batchTimeoutMs = 20_000

/** Creates the publisher of events to the stream, which drops repeats by `Nats-Msg-Id`. */
export const createEventPublisher = (nats: NatsConnection) => {
  const client = jetstream(nats)
  return {
    /** Resolves once the stream has stored the event, now or before. */
    async one(organizationId: string, event: FormEvent): Promise<void> {
      const { subject, body, options } = toMessage(organizationId, event)
      const { duplicate } = await client.publish(subject, body, options)
      if (!duplicate) observeRelay(event)
    },

    /**
     * Publishes 2 to 1,000 events, all or none, in order (NATS ADR-50).
     *
     * @throws {Error} also if the stream has one already.
     */
    async batch(organizationId: string, events: readonly FormEvent[]): Promise<void> {
      const messages = events.map((event) => toMessage(organizationId, event))
      const [first, last] = [messages.shift()!, messages.pop()!]
      const batch = await client.startBatch(first.subject, first.body, first.options)
      for (const { subject, body, options } of messages) batch.add(subject, body, options)
      await batch.commit(last.subject, last.body, { ...last.options, timeout: batchTimeoutMs })
      for (const event of events) observeRelay(event)
    },
  }
}

export type EventPublisher = ReturnType<typeof createEventPublisher>

const toMessage = (organizationId: string, event: FormEvent) => {
  const eventHeaders = headers()
  eventHeaders.set('Nats-Msg-Id', event.id)
  eventHeaders.set('Content-Type', eventContentType)
  return {
    subject: eventSubject(organizationId, event.type),
    body: JSON.stringify(event),
    options: { headers: eventHeaders, timeout: timeoutMs },
  }
}
