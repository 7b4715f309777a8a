import { ApiError } from '@fms/aip'
import { startTracing, stopTracing } from '@fms/service-kit'
import { newTrace, startCollector } from '@fms/testkit/collector'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { commandFor, givenForm, type StoreCall, startPublishing } from './testing.ts'

it('keeps a redelivered command in the trace of its request', async () => {
  await using collector = await startCollector()
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = collector.url
  process.env.OTEL_EXPORTER_OTLP_PROTOCOL = 'http/json'
  await startTracing('publisher', pino({ level: 'silent' }))
  await using publishing = await startPublishing()
  let calls = 0
  const around = async ({ proceed }: StoreCall) => {
    if (++calls === 2) throw new ApiError('UNAVAILABLE', 'STORE_UNAVAILABLE', 'away')
    return proceed()
  }
  await publishing.publisher({ around })
  const { traceId, traceparent } = newTrace()

  const sent = await publishing.send(commandFor(await givenForm(publishing.forms)), { traceparent })
  expect(await sent.reply).toMatchObject({ outcome: 'published' })
  await publishing.idle()
  await stopTracing()

  const deliveries = collector.trace(traceId).filter(({ name }) => name === 'process publish.form')
  expect(
    deliveries.map(({ kind, attributes }) => [kind, attributes['messaging.nats.delivery_count']]),
  ).toEqual([
    [5, 1],
    [5, 2],
  ])
  expect(new Set(deliveries.map(({ parentSpanId }) => parentSpanId))).toEqual(
    new Set([traceparent.split('-')[2]]),
  )
})
