import type { JetStreamManager, NatsConnection } from 'nats'
import { Gauge } from '../telemetry/metrics.ts'

/** How long JetStream may take to answer a scrape, in milliseconds. */
const timeoutMs = 1_000

interface Watched {
  stream: string
  consumer?: string
  manager: JetStreamManager
}

const watched = new Set<Watched>()

new Gauge({
  name: 'nats_stream_messages',
  help: 'Messages in a stream, as JetStream tells of it: every instance tells the same',
  labelNames: ['stream'],
  async collect() {
    this.reset()
    await each(async ({ stream, manager }) => {
      const { state } = await manager.streams.info(stream)
      this.set({ stream }, state.messages)
    })
  },
})

new Gauge({
  name: 'nats_consumer_messages',
  help: 'Messages that wait for a consumer (pending), or for its ack (unacknowledged); every instance tells the same',
  labelNames: ['stream', 'consumer', 'state'],
  async collect() {
    this.reset()
    await each(async ({ stream, consumer, manager }) => {
      if (!consumer) return
      const { num_pending, num_ack_pending } = await manager.consumers.info(stream, consumer)
      this.set({ stream, consumer, state: 'pending' }, num_pending)
      this.set({ stream, consumer, state: 'unacknowledged' }, num_ack_pending)
    })
  },
})

/** While NATS is away, or a stream not there yet, there is nothing to tell. */
const each = (tell: (of: Watched) => Promise<void>) =>
  Promise.all([...watched].map((of) => tell(of).catch(() => {})))

/**
 * Tells in `/metrics` how many messages lie in a stream and, where a consumer is named, wait for it. Asked when
 * Prometheus asks.
 *
 * @returns a function that ends it.
 */
export const watchBacklog = async (
  nats: NatsConnection,
  stream: string,
  consumer?: string,
): Promise<() => void> => {
  const manager = await nats.jetstreamManager({ checkAPI: false, timeout: timeoutMs })
  const of = { stream, consumer, manager }
  watched.add(of)
  return () => watched.delete(of)
}
