import { setTimeout as delay } from 'node:timers/promises'
import {
  type Consumer,
  type ConsumerConfig,
  type ConsumerInfo,
  type ConsumerMessages,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
  type JsMsg,
  type StreamConfig,
  type StreamInfo,
} from '@nats-io/jetstream'
import type { FastifyBaseLogger } from 'fastify'
import type { Subscription } from 'nats'

/** The duration of a pull request. A lost one is noticed after this time; milliseconds. */
const pullMs = 2_000

/** The pause before the stream and its consumer are requested again, in milliseconds. */
const retryMs = 250

/** How long a stop waits for the messages that the server has sent, in milliseconds. */
const drainMs = 1_000

/** Updates the configuration of a stream, or creates it. May run again, and concurrently. */
export const ensureStream = (
  manager: JetStreamManager,
  config: Partial<StreamConfig> & { name: string },
): Promise<StreamInfo> =>
  manager.streams.update(config.name, config).catch(ifMissing(() => manager.streams.add(config)))

/** Updates the configuration of a durable consumer, or creates it. May run again, and concurrently. */
export const ensureConsumer = (
  manager: JetStreamManager,
  stream: string,
  config: Partial<ConsumerConfig> & { durable_name: string },
): Promise<ConsumerInfo> =>
  manager.consumers
    .update(stream, config.durable_name, config)
    .catch(ifMissing(() => manager.consumers.add(stream, config)))

const { StreamNotFound, ConsumerNotFound } = JetStreamApiCodes
const missing: readonly number[] = [StreamNotFound, ConsumerNotFound]

const ifMissing =
  <T>(create: () => Promise<T>) =>
  (error: unknown): Promise<T> => {
    if (error instanceof JetStreamApiError && missing.includes(error.code)) return create()
    throw error
  }

/**
 * Handles the messages of a durable pull consumer concurrently until it is stopped. Resumes after interruptions.
 *
 * @param ensure creates the streams and returns the consumer; called at the start and after each interruption.
 * @param handle settles the message (ack, nak, term). Its errors are logged, and the message is redelivered.
 * @param options.ackWaitMs of the consumer. Messages in flight report progress every half of it.
 * @param options.maxMessages messages in flight; as many more may be buffered.
 */
export const consume = (
  ensure: () => Promise<Consumer>,
  handle: (message: JsMsg) => Promise<unknown>,
  logger: FastifyBaseLogger,
  { ackWaitMs, maxMessages = 64 }: { ackWaitMs: number; maxMessages?: number },
) => {
  const inFlight = new Map<JsMsg, Promise<unknown>>()
  let isStopping = false
  let messages: ConsumerMessages | undefined
  /** What prevents it from receiving messages, logged once. */
  let problem: string | undefined

  const start = (message: JsMsg) => {
    const handled = handle(message)
      .catch((err) => logger.error({ err }, 'a message could not be handled'))
      .finally(() => inFlight.delete(message))
    inFlight.set(message, handled)
  }
  const progress = setInterval(() => {
    for (const message of inFlight.keys()) message.working()
  }, ackWaitMs / 2)

  const pull = async () => {
    const consumer = await ensure()
    if (isStopping) return
    messages = await consumer.consume({
      max_messages: maxMessages,
      expires: pullMs,
      abort_on_missing_resource: true,
    })
    if (problem) logger.info('messages are consumed again')
    problem = undefined
    for await (const message of messages) {
      if (isStopping) message.nak()
      else start(message)
      if (inFlight.size >= maxMessages) await Promise.race(inFlight.values())
    }
  }
  const run = async () => {
    while (!isStopping) {
      try {
        await pull()
      } catch (err) {
        const { message } = err as Error
        if (!isStopping && message !== problem) logger.warn({ err }, 'cannot consume messages: retrying')
        problem = message
      }
      messages = undefined
      if (!isStopping) await delay(retryMs)
    }
  }
  void run()

  return {
    /** Whether it requests messages. Stays true while NATS is disconnected for a moment. */
    get active(): boolean {
      return messages !== undefined
    },
    /** Stops taking messages, gives those not yet handled to other instances, and waits for those in flight. */
    async stop(): Promise<void> {
      isStopping = true
      if (messages) await closeAfterDrain(messages)
      await Promise.all(inFlight.values())
      clearInterval(progress)
    },
  }
}

/** Receives what the server has sent before it closes: otherwise it is redelivered only after the ack wait. */
const closeAfterDrain = async (messages: ConsumerMessages) => {
  // The client has no public access to the subscription.
  const { sub } = messages as { sub?: Subscription }
  const drained = sub?.drain().catch(() => {})
  // A disconnected server never confirms the drain.
  await Promise.race([drained, delay(drainMs, undefined, { ref: false })])
  await messages.close()
}
