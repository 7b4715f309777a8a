import type { FastifyBaseLogger } from 'fastify'
import type { Consumer, ConsumerMessages, JetStreamManager, JsMsg, StreamConfig } from 'nats'

/** Deliveries that a consumer holds at once; what is not begun after the ack wait goes to another instance. */
const maxMessages = 64

/** Between two tries to get the stream and its consumer, while NATS or JetStream is away; milliseconds. */
const retryMs = 250

/** Makes a stream, or gives it today's settings. May be repeated, also by several at once. */
export const ensureStream = async (
  manager: JetStreamManager,
  config: Partial<StreamConfig> & { name: string },
) => {
  const exists = await manager.streams.info(config.name).then(
    () => true,
    () => false,
  )
  if (exists) await manager.streams.update(config.name, config)
  else await manager.streams.add(config)
}

export interface Consumption {
  /** Whether messages are being taken right now. */
  readonly active: boolean
  /** Takes no more messages and waits for those in hand. */
  stop(): Promise<void>
}

/**
 * Takes messages from a durable pull consumer for as long as the process lives: several at a time, and again after
 * NATS was away or its streams were lost.
 *
 * @param ensure makes the streams and gives the consumer; called at the start and after each interruption.
 * @param handle settles the message (ack, nak, term). What it throws is a defect: logged, and left to redelivery.
 */
export const consume = (
  ensure: () => Promise<Consumer>,
  handle: (message: JsMsg) => Promise<unknown>,
  logger: FastifyBaseLogger,
): Consumption => {
  const inHand = new Set<Promise<unknown>>()
  const stopped = Promise.withResolvers<void>()
  let stopping = false
  let messages: ConsumerMessages | undefined

  const take = (message: JsMsg) => {
    const handled = handle(message)
      .catch((err) => logger.error({ err }, 'a message was not handled'))
      .finally(() => inHand.delete(handled))
    inHand.add(handled)
  }

  const loop = async () => {
    while (!stopping) {
      try {
        const consumer = await ensure()
        if (stopping) break
        messages = await consumer.consume({ max_messages: maxMessages, abort_on_missing_resource: true })
        for await (const message of messages) take(message)
      } catch (err) {
        if (!stopping) logger.warn({ err }, 'cannot take messages: trying again')
      }
      messages = undefined
      if (!stopping) await new Promise((resolve) => setTimeout(resolve, retryMs))
    }
    await Promise.all(inHand)
    stopped.resolve()
  }
  void loop()

  return {
    get active() {
      return messages !== undefined
    },
    async stop() {
      stopping = true
      await messages?.close()
      await stopped.promise
    },
  }
}
