import { Counter, durationBuckets, Histogram } from '@fms/service-kit'
import type { JsMsg } from 'nats'
import type { Disposition } from './consumers/publish-form.ts'

const commands = new Counter({
  name: 'publish_commands_total',
  help: 'Deliveries of publish commands, by what became of them: published, refused, retried, late or dead',
  labelNames: ['outcome'],
})
for (const outcome of ['published', 'refused', 'retried', 'late', 'dead'] satisfies Disposition[])
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

/** Handles a delivery, and tells of it in `/metrics`. What throws is delivered again. */
export const measureDelivery = async (
  message: JsMsg,
  handle: () => Promise<Disposition>,
): Promise<Disposition> => {
  const begun = performance.now()
  let outcome: Disposition = 'retried'
  if (message.info.deliveryCount > 1) redeliveries.inc()
  try {
    outcome = await handle()
    return outcome
  } finally {
    commands.inc({ outcome })
    duration.observe({ outcome }, (performance.now() - begun) / 1000)
  }
}
