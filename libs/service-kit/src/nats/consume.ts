import type { FastifyBaseLogger } from 'fastify'
import type {
  Consumer,
  ConsumerConfig,
  ConsumerMessages,
  JetStreamManager,
  JsMsg,
  StreamConfig,
  Subscription,
} from 'nats'

/** Messages under way at once where the options do not say; as many again may wait here for their turn. */
const defaultMaxMessages = 64

/** How long one pull asks for messages. A pull that got lost is noticed after this; milliseconds. */
const pullMs = 2_000

/** Between two tries to get the stream and its consumer, while NATS or JetStream is away; milliseconds. */
const retryMs = 250

/** How long the server may take to send what is on its way; milliseconds. */
const drainMs = 1_000

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

/** Makes a durable consumer, or gives it today's settings. May be repeated, also by several at once. */
export const ensureConsumer = async (
  manager: JetStreamManager,
  stream: string,
  config: Partial<ConsumerConfig> & { durable_name: string },
) => {
  const exists = await manager.consumers.info(stream, config.durable_name).then(
    () => true,
    () => false,
  )
  if (exists) await manager.consumers.update(stream, config.durable_name, config)
  else await manager.consumers.add(stream, config)
}

export interface Consumption {
  /** Whether messages are being asked for; also while NATS is away for a moment. */
  readonly active: boolean
  /** Takes no more messages and waits for those in hand. Those not begun go to another instance. */
  stop(): Promise<void>
}

export interface ConsumeOptions {
  /** The ack wait of the consumer: a message in hand is kept from redelivery every half of it. Milliseconds. */
  ackWaitMs: number
  /** Messages under way at once; as many again may wait here for their turn. Default: 64. */
  maxMessages?: number
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
  { ackWaitMs, maxMessages = defaultMaxMessages }: ConsumeOptions,
): Consumption => {
  const inHand = new Map<JsMsg, Promise<unknown>>()
  let stopping = false
  let messages: ConsumerMessages | undefined

  const take = (message: JsMsg) => {
    const handled = handle(message)
      .catch((err) => logger.error({ err }, 'a message was not handled'))
      .finally(() => inHand.delete(message))
    inHand.set(message, handled)
  }
  const sayWorking = setInterval(() => {
    for (const message of inHand.keys()) message.working()
  }, ackWaitMs / 2)

  const loop = async () => {
    while (!stopping) {
      try {
        const consumer = await ensure()
        if (stopping) break
        messages = await consumer.consume({
          max_messages: maxMessages,
          expires: pullMs,
          abort_on_missing_resource: true,
        })
        for await (const message of messages) {
          if (stopping) message.nak()
          else take(message)
          if (inHand.size >= maxMessages) await Promise.race(inHand.values())
        }
      } catch (err) {
        if (!stopping) logger.warn({ err }, 'cannot take messages: trying again')
      }
      messages = undefined
      if (!stopping) await new Promise((resolve) => setTimeout(resolve, retryMs))
    }
  }
  void loop()

  return {
    get active() {
      return messages !== undefined
    },
    async stop() {
      stopping = true
      if (messages) await closeAfterTheLast(messages)
      await Promise.all(inHand.values())
      clearInterval(sayWorking)
    },
  }
}

/**
 * `close` alone forgets the messages that are on their way, and each would come to another instance only when its ack
 * wait is over.
 */
const closeAfterTheLast = async (messages: ConsumerMessages) => {
  // Of its subscription the client tells nobody.
  const { sub } = messages as { sub?: Subscription }
  const drained = sub?.drain().catch(() => {})
  // Away, the server sends nothing more.
  await Promise.race([drained, new Promise((resolve) => setTimeout(resolve, drainMs).unref())])
  await messages.close()
}
