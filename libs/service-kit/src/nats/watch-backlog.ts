import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from 'nats'
import { Gauge } from '../telemetry/metrics.ts'

const timeoutMs = 1_000

interface Watched {
  stream: string
  consumer?: string
  manager: JetStreamManager
}

const watched = new Set<Watched>()

new Gauge({
  name: 'nats_stream_messages',
  help: 'Messages in a stream, as JetStream reports it: the same value on every instance',
  labelNames: ['stream'],
  async collect() {
    this.reset()
    await forEachWatched(async ({ stream, manager }) => {
      const { state } = await manager.streams.info(stream)
      this.set({ stream }, state.messages)
    })
  },
})

new Gauge({
  name: 'nats_consumer_messages',
  help: 'Messages that wait for a consumer (pending) or for its ack (unacknowledged): the same value on every instance',
  labelNames: ['stream', 'consumer', 'state'],
  async collect() {
    this.reset()
    await forEachWatched(async ({ stream, consumer, manager }) => {
      if (!consumer) return
      const { num_pending, num_ack_pending } = await manager.consumers.info(stream, consumer)
      this.set({ stream, consumer, state: 'pending' }, num_pending)
      this.set({ stream, consumer, state: 'unacknowledged' }, num_ack_pending)
    })
  },
})

/** Collects without an error, and without values, while NATS is out of reach or a stream does not exist. */
const forEachWatched = (collect: (backlog: Watched) => Promise<void>) =>
  Promise.all([...watched].map((backlog) => collect(backlog).catch(() => {})))

/** Adds the messages of a stream, and those that wait for a consumer, to `/metrics`. @returns a function that removes them. */
export const watchBacklog = async (
  nats: NatsConnection,
  stream: string,
  consumer?: string,
): Promise<() => void> => {
  const manager = await jetstreamManager(nats, { checkAPI: false, timeout: timeoutMs })
  const backlog = { stream, consumer, manager }
  watched.add(backlog)
  return () => watched.delete(backlog)
}
