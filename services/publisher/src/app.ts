import { type App, closeNats, consume, createApp } from '@fms/service-kit'
import type { PublishFormDeps } from './consumers/publish-form.ts'
import { consumePublishForm } from './consumers/publish-form.ts'
import { ensureStreams } from './streams.ts'

/** The publisher: takes publish commands from the queue. Over HTTP it tells nothing but its health. */
export const createPublisherApp = (deps: PublishFormDeps): App => {
  const { nats, forms, logger } = deps
  const consumption = consume(
    () => ensureStreams(nats),
    (message) => consumePublishForm(message, deps),
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
  app.addHook('onClose', async () => {
    await consumption.stop()
    await closeNats(nats)
    await forms.close()
  })
  return app
}
