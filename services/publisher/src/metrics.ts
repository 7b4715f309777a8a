import { Counter, durationBuckets, Histogram } from '@fms/service-kit'
import type { JsMsg } from '@nats-io/jetstream'
import type { DeliveryOutcome } from './consumers/publish-form.ts'

const commands = new Counter({
  name: 'publish_commands_total',
  help: 'Deliveries of publish commands, by outcome: published, refused, retried, late or dead',
  labelNames: ['outcome'],
})
for (const outcome of ['published', 'refused', 'retried', 'late', 'dead'] satisfies DeliveryOutcome[])
  commands.inc({ outcome }, 0)

const redeliveries = new Counter({
  name: 'publish_redeliveries_total',
  help: 'Deliveries of publish commands that were not the first of their command',
})

const duration = new Histogram({
  name: 'publish_command_duration_seconds',
  help: 'Time from the delivery of a publish command to its end',
  labelNames: ['outcome'],
  buckets: durationBuckets,
})

/** Handles a delivery and counts its outcome in `/metrics`. A thrown error counts as `retried`. */
export const measureDelivery = async (
  message: JsMsg,
  handle: () => Promise<DeliveryOutcome>,
): Promise<DeliveryOutcome> => {
  const startMs = performance.now()
  let outcome: DeliveryOutcome = 'retried'
  if (message.info.deliveryCount > 1) redeliveries.inc()
  try {
    outcome = await handle()
    return outcome
  } finally {
    commands.inc({ outcome })
    duration.observe({ outcome }, (performance.now() - startMs) / 1000)
  }
}
