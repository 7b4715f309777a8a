import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ApiError } from '@fms/aip'
import { newTrace, startCollector } from '@fms/testkit/collector'
import { headers } from 'nats'
import { pino } from 'pino'
import { afterEach, describe, expect, it } from 'vitest'
import { createApp } from '../http/create-app.ts'
import { startTracing, stopTracing, traceFields, traceSending } from './tracing.ts'

/** An app that exports traces to `endpoint`, and its log lines. */
const startTraced = async (endpoint: string) => {
  const lines: Record<string, unknown>[] = []
  const logger = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line)) })
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = endpoint
  process.env.OTEL_EXPORTER_OTLP_PROTOCOL = 'http/json'
  process.env.OTEL_BSP_SCHEDULE_DELAY = '10'
  await startTracing('things', logger)
  const app = createApp({ logger })
  app.post('/things/:id', async ({ log }) => {
    log.info('inside')
    return traceFields()
  })
  app.get('/rejected', async () => {
    throw new ApiError('NOT_FOUND', 'FORM_NOT_FOUND', 'no such thing')
  })
  app.get('/defect', async () => {
    throw new Error('a defect')
  })
  return { app, lines }
}

afterEach(stopTracing)

describe('tracing', () => {
  it('does not load the SDK unless an endpoint is set', async () => {
    // prom-client loads the API.
    const script = `
      import { registerHooks } from 'node:module'
      const loaded = []
      registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
      const { startTracing } = await import(${JSON.stringify(join(import.meta.dirname, '../index.ts'))})
      await startTracing('things', {}, {})
      console.log(loaded.filter((url) => /opentelemetry\\/(?!api\\/)|-opentelemetry/.test(url)).length, loaded.length > 100)`

    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])

    expect(stdout.trim()).toBe('0 true')
  })

  it("continues the caller's trace, and adds the span to every log line of the request", async () => {
    await using collector = await startCollector()
    const { app, lines } = await startTraced(collector.url)
    const { traceId, traceparent } = newTrace()

    const request = { url: '/things/1?a=b', headers: { traceparent }, payload: {} }
    const response = await app.inject({ method: 'POST', ...request })
    await stopTracing()

    const [span] = collector.trace(traceId)
    expect(span).toMatchObject({
      service: 'things',
      name: 'POST /things/:id',
      kind: 2,
      parentSpanId: traceparent.split('-')[2],
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/things/:id',
        'http.response.status_code': 200,
        'url.path': '/things/1',
      },
      status: 0,
    })
    expect(response.json()).toEqual({ trace_id: traceId, span_id: span!.spanId })
    expect(lines.map(({ msg, trace_id, span_id }) => ({ msg, trace_id, span_id }))).toEqual([
      { msg: 'inside', trace_id: traceId, span_id: span!.spanId },
      { msg: 'request completed', trace_id: traceId, span_id: span!.spanId },
    ])
  })

  it('marks the span of a defect as failed, without its message', async () => {
    await using collector = await startCollector()
    const { app } = await startTraced(collector.url)
    const { traceId, traceparent } = newTrace()

    await app.inject({ url: '/defect', headers: { traceparent } })
    await stopTracing()

    expect(collector.trace(traceId)).toMatchObject([
      { status: 2, attributes: { 'http.response.status_code': 500, 'error.type': '500' } },
    ])
    expect(JSON.stringify(collector.trace(traceId))).not.toContain('a defect')
  })

  it('does not mark the span of a rejected request as failed', async () => {
    await using collector = await startCollector()
    const { app } = await startTraced(collector.url)
    const { traceId, traceparent } = newTrace()

    await app.inject({ url: '/rejected', headers: { traceparent } })
    await stopTracing()

    const [span] = collector.trace(traceId)
    expect(span).toMatchObject({ status: 0, attributes: { 'http.response.status_code': 404 } })
    expect(span!.attributes).not.toHaveProperty('error.type')
  })

  it('keeps a message that is sent again in the trace of its headers', async () => {
    await using collector = await startCollector()
    await startTraced(collector.url)
    const { traceId, traceparent } = newTrace()
    const messageHeaders = headers()
    messageHeaders.set('traceparent', traceparent)

    await traceSending('a.subject', messageHeaders, async () => {})
    const first = messageHeaders.get('traceparent')
    await traceSending('a.subject', messageHeaders, () => Promise.reject(new Error('unreachable'))).catch(
      () => {},
    )
    await stopTracing()

    expect(first).toContain(traceId)
    expect(collector.trace(traceId)).toMatchObject([
      { name: 'send a.subject', kind: 4, parentSpanId: traceparent.split('-')[2], status: 0 },
      { name: 'send a.subject', kind: 4, parentSpanId: first.split('-')[2], status: 2 },
    ])
  })

  it('serves requests while the collector fails, and logs that once', async () => {
    process.env.OTEL_EXPORTER_OTLP_TIMEOUT = '50'
    let refused = 0
    const collector = createServer((_, response) => {
      refused++
      response.writeHead(400).end()
    }).listen(0, '127.0.0.1')
    await once(collector, 'listening')
    const { port } = collector.address() as AddressInfo
    const { app, lines } = await startTraced(`http://127.0.0.1:${port}`)
    const request = async () =>
      expect((await app.inject({ method: 'POST', url: '/things/1' })).statusCode).toBe(200)

    for (const times of [1, 2, 3]) {
      await request()
      await expect.poll(() => refused, { timeout: 10_000 }).toBe(times)
    }
    await new Promise((closed) => collector.close(closed).closeAllConnections())
    await request()
    const startedAt = performance.now()
    await stopTracing()

    expect(performance.now() - startedAt).toBeLessThan(5_000)
    expect(lines.filter(({ msg }) => msg === 'cannot export spans')).toHaveLength(1)
  })
})
