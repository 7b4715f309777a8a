import { deadLetterStream, publisherConsumer, publishStream } from '@fms/contracts'
import { type App, closeNats, consume, createApp, traceDelivery, watchBacklog } from '@fms/service-kit'
import type { PublishFormDeps } from './consumers/publish-form.ts'
import { consumePublishForm } from './consumers/publish-form.ts'
import { measureDelivery } from './metrics.ts'
import { createStreamClock } from './stream-clock.ts'
import { ensureStreams, timeOfStream } from './streams.ts'

type PublisherDeps = Omit<PublishFormDeps, 'streamClock'>

/** The publisher: takes publish commands from the queue. Over HTTP it tells nothing but its health. */
export const createPublisherApp = (given: PublisherDeps): App => {
  const { nats, forms, logger } = given
  const deps = { ...given, streamClock: createStreamClock(() => timeOfStream(nats)) }
  const consumption = consume(
    () => ensureStreams(nats),
    (message) =>
      traceDelivery(message, publisherConsumer, () =>
        measureDelivery(message, () => consumePublishForm(message, deps)),
      ),
    logger,
  )
  const app = createApp({
    logger,
    ready: async () => {
      if (!consumption.active) throw new Error('No commands can be taken: the stream is not there')
      // Rejects while NATS is away.
      await nats.rtt()
      await forms.ping()
    },
  })
  const backlogs = [
    watchBacklog(nats, publishStream.name, publisherConsumer),
    watchBacklog(nats, deadLetterStream.name),
  ]
  app.addHook('onClose', async () => {
    for (const unwatch of await Promise.all(backlogs)) unwatch()
    await consumption.stop()
    await closeNats(nats)
    await forms.close()
  })
  return app
}
