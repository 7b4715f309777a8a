import { deadLetterStream, publisherConsumer, publishProbeSubject, publishStream } from '@fms/contracts'
import { ensureConsumer, ensureStream } from '@fms/service-kit'
import {
  AckPolicy,
  type Consumer,
  DiscardPolicy,
  type NatsConnection,
  nanos,
  RetentionPolicy,
  StorageType,
} from 'nats'

/** A command whose publisher died comes to another one after this; far below the gateway's deadline. */
export const ackWaitMs = 2_000

/** Commands that may wait; a publish beyond them is refused with 503. */
const maxCommands = 10_000

/** So long after the longest deadline a command leaves the queue by itself, in milliseconds. */
const afterDeadlineMs = 1_000

/** Commands under way in all publishers together. */
const maxAckPending = 512

/** How long a probe of the queue may take, in milliseconds. */
const probeTimeoutMs = 1_000

/** Dead letters are kept for 30 days, the newest of them. */
const maxDeadLetters = 10_000
const deadLetterAgeMs = 30 * 24 * 60 * 60 * 1000

/**
 * Makes the streams and the consumer that publishing stands on, or brings them up to date. May run in every
 * publisher at every start.
 *
 * Commands lie on disk in a work queue, bounded by number and age: a message is gone once it is acked, or when its
 * deadline is over for certain. All publishers pull from one durable consumer, so that more of them share the work.
 */
export const ensureStreams = async (nats: NatsConnection, publishTimeoutMs: number): Promise<Consumer> => {
  const manager = await nats.jetstreamManager()
  await ensureStream(manager, {
    name: publishStream.name,
    subjects: [...publishStream.subjects],
    storage: StorageType.File,
    retention: RetentionPolicy.Workqueue,
    max_msgs: maxCommands,
    max_age: nanos(publishTimeoutMs + afterDeadlineMs),
    // Messages carry no Nats-Msg-Id; the default would be longer than max_age may be.
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
  return nats.jetstream().consumers.get(publishStream.name, publisherConsumer)
}

/** @returns what time it is on the server that keeps the commands; milliseconds since the epoch. */
export const timeOfStream = async (nats: NatsConnection): Promise<number> => {
  const manager = await nats.jetstreamManager({ checkAPI: false })
  const { ts } = (await manager.streams.info(publishStream.name)) as { ts?: string }
  // Servers before 2.10 do not tell.
  return ts === undefined ? Date.now() : Date.parse(ts)
}

/** Stores an empty message in the queue: rejects while no command can be stored. */
export const probeQueue = async (nats: NatsConnection): Promise<void> => {
  await nats.jetstream().publish(publishProbeSubject, undefined, { timeout: probeTimeoutMs })
}
