import {
  deadLetterStream,
  eventsStream,
  publisherConsumer,
  publishProbeSubject,
  publishStream,
} from '@fms/contracts'
import { ensureConsumer, ensureStream } from '@fms/service-kit'
import {
  AckPolicy,
  type Consumer,
  DiscardPolicy,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream'
import { type NatsConnection, nanos } from 'nats'
import type { EventsConfig } from './config.ts'

/** Redelivery delay of a command whose publisher died, in milliseconds; far below the gateway's deadline. */
export const ackWaitMs = 2_000

const maxCommands = 10_000

/** Commands expire from the queue this long after their longest deadline, in milliseconds. */
const afterDeadlineMs = 1_000

const maxAckPending = 512

const probeTimeoutMs = 1_000

/** Dead letters are kept for 30 days. Beyond 10,000 the oldest are dropped. */
const maxDeadLetters = 10_000
const dayMs = 24 * 60 * 60 * 1000
const deadLetterAgeMs = 30 * dayMs

/** Timeout of each request about the stream of events, in milliseconds. */
const eventsTimeoutMs = 2_000

/** Maximum number of consumers of the stream of events: its readers create their own. */
const maxEventConsumers = 1_000

/** For how long the stream of events recognizes an event that is published again, in milliseconds. */
const duplicateWindowMs = 2 * 60 * 1000

/** Creates or updates the streams and the one consumer of publish commands, which all publishers share. */
export const ensureStreams = async (nats: NatsConnection, publishTimeoutMs: number): Promise<Consumer> => {
  const manager = await jetstreamManager(nats)
  await ensureStream(manager, {
    name: publishStream.name,
    subjects: [...publishStream.subjects],
    storage: StorageType.File,
    retention: RetentionPolicy.Workqueue,
    max_msgs: maxCommands,
    max_age: nanos(publishTimeoutMs + afterDeadlineMs),
    // Messages carry no Nats-Msg-Id. The default window would exceed max_age, which NATS rejects.
    duplicate_window: nanos(afterDeadlineMs),
    discard: DiscardPolicy.New,
  })
  await ensureStream(manager, {
    name: deadLetterStream.name,
    subjects: [...deadLetterStream.subjects],
    storage: StorageType.File,
    max_age: nanos(deadLetterAgeMs),
    max_msgs: maxDeadLetters,
    discard: DiscardPolicy.Old,
  })
  await ensureConsumer(manager, publishStream.name, {
    durable_name: publisherConsumer,
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(ackWaitMs),
    max_ack_pending: maxAckPending,
  })
  return jetstream(nats).consumers.get(publishStream.name, publisherConsumer)
}

/** Creates or updates the stream of events. @returns whether it accepts atomic batches (nats-server 2.12). */
export const ensureEventsStream = async (nats: NatsConnection, config: EventsConfig): Promise<boolean> => {
  const manager = await jetstreamManager(nats, { checkAPI: false, timeout: eventsTimeoutMs })
  const info = await ensureStream(manager, {
    name: eventsStream.name,
    subjects: [...eventsStream.subjects],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    max_age: nanos(config.EVENTS_STREAM_DAYS * dayMs),
    max_bytes: config.EVENTS_STREAM_BYTES,
    // Each organization and type has a subject.
    max_msgs_per_subject: config.EVENTS_STREAM_PER_TYPE,
    discard: DiscardPolicy.Old,
    duplicate_window: nanos(duplicateWindowMs),
    allow_atomic: true,
    max_consumers: maxEventConsumers,
  })
  return info.config.allow_atomic === true
}

/** Stores an empty message in the queue. Rejects while the queue cannot store commands. */
export const probeQueue = async (nats: NatsConnection): Promise<void> => {
  await jetstream(nats).publish(publishProbeSubject, undefined, { timeout: probeTimeoutMs })
}
