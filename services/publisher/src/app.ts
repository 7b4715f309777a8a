import type { EventEmitter } from 'node:events'
import { deadLetterStream, publisherConsumer, publishProbeSubject, publishStream } from '@fms/contracts'
import { FairQueue } from '@fms/scheduling'
import { type App, closeNats, consume, createApp, traceDelivery, watchBacklog } from '@fms/service-kit'
import type { JsMsg } from '@nats-io/jetstream'
import type { EventsConfig } from './config.ts'
import type { PublishFormDeps } from './consumers/publish-form.ts'
import { consumePublishForm } from './consumers/publish-form.ts'
import { countedLog } from './counted-log.ts'
import { createGatewayClocks } from './deadline/gateway-clocks.ts'
import { DraftChecks } from './draft-checks.ts'
import { measureDelivery } from './metrics.ts'
import { watchEventBacklog } from './relay/event-metrics.ts'
import { startRelay } from './relay/relay.ts'
import { watchRevisions } from './revision-metrics.ts'
import { ackWaitMs, ensureStreams, probeQueue } from './streams.ts'

/** Commands under way. The others of those that are delivered wait for their turn. */
const commandSeats = { seats: 16 }

interface PublisherDeps extends Omit<PublishFormDeps, 'clocks' | 'checks' | 'turns' | 'logLateCommand'> {
  /** How long callers wait for a publish, in milliseconds. */
  publishTimeoutMs: number
  eventsConfig: EventsConfig
  /** Emits `recorded` when a change of this process has recorded an event. */
  changes: EventEmitter<{ recorded: [] }>
}

/** Creates the publisher: consumes publish commands, relays events, and serves only health and metrics over HTTP. */
export const createPublisherApp = (given: PublisherDeps): App => {
  const { nats, forms, logger, publishTimeoutMs, eventsConfig, changes, now } = given
  const deps = {
    ...given,
    checks: new DraftChecks(),
    turns: new FairQueue(commandSeats),
    clocks: createGatewayClocks(nats),
    logLateCommand: countedLog(1_000, (commands) =>
      logger.warn({ commands }, 'late commands discarded: their callers no longer wait'),
    ),
  }
  const handle = async (message: JsMsg) => {
    if (message.subject === publishProbeSubject) return message.ack()
    return traceDelivery(message, publisherConsumer, () =>
      measureDelivery(message, () => consumePublishForm(message, deps)),
    )
  }
  const consumption = consume(() => ensureStreams(nats, publishTimeoutMs), handle, logger, { ackWaitMs })
  const relay = startRelay({ events: forms.events, nats, logger, config: eventsConfig, now })
  changes.on('recorded', relay.wake)
  const app = createApp({
    logger,
    isBehindGateway: true,
    ready: async () => {
      if (!consumption.active) throw new Error('Commands cannot be consumed: the stream does not exist')
      // Rejects while NATS is unreachable or cannot store commands.
      await probeQueue(nats)
      await forms.ping()
    },
  })
  const backlogs = [
    watchBacklog(nats, publishStream.name, publisherConsumer),
    watchBacklog(nats, deadLetterStream.name),
  ]
  const unwatchEvents = watchEventBacklog(forms.events)
  const unwatchRevisions = watchRevisions(forms.revisionGrowth)
  app.addHook('onClose', async () => {
    for (const unwatch of await Promise.all(backlogs)) unwatch()
    unwatchEvents()
    unwatchRevisions()
    await Promise.all([consumption.stop(), relay.stop()])
    await closeNats(nats)
    await deps.checks.close()
    await forms.close()
  })
  return app
}
