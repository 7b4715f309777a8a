import { once } from 'node:events'
import { request, type ServerResponse } from 'node:http'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { createApp } from '../http/create-app.ts'
import { countEventStream } from './metrics.ts'

const startApp = () => createApp({ logger: pino({ level: 'silent' }) })

const metricsOf = async (app: ReturnType<typeof startApp>) => (await app.inject('/metrics')).body

describe('GET /metrics', () => {
  it('counts requests by method, route and status, in the Prometheus text format', async () => {
    await using app = startApp()
    app.get('/things/:id', async () => ({}))
    await app.inject('/things/1')
    await app.inject('/things/2')
    await app.inject('/nothing/3')

    const { headers, body } = await app.inject('/metrics')

    expect(headers['content-type']).toContain('text/plain')
    expect(body).toContain(
      'http_request_duration_seconds_count{method="GET",route="/things/:id",status="200"} 2',
    )
    expect(body).toContain('http_request_duration_seconds_count{method="GET",route="none",status="404"} 1')
    expect(body).toContain('http_error_responses_total{reason="PATH_NOT_FOUND"} 1')
    expect(body).toContain('nodejs_eventloop_lag_seconds')
  })

  it('counts requests in flight, and those whose client disconnected', async () => {
    await using app = startApp()
    const arrived = Promise.withResolvers<void>()
    const result = Promise.withResolvers<object>()
    app.get('/slow', () => {
      arrived.resolve()
      return result.promise
    })
    const origin = await app.listen({ host: '127.0.0.1', port: 0 })
    const client = request(`${origin}/slow`)
    client.on('error', () => {}).end()
    await arrived.promise

    // The scrape counts itself.
    expect(await metricsOf(app)).toContain('http_requests_in_flight 2')
    client.destroy()

    const disconnected = 'http_request_duration_seconds_count{method="GET",route="/slow",status="499"} 1'
    await expect.poll(() => metricsOf(app)).toContain(disconnected)
    result.resolve({})
    expect(await metricsOf(app)).toContain('http_requests_in_flight 1')
    expect(await metricsOf(app)).not.toContain('route="/slow",status="200"')
  })

  it('ends a request without end with its head', async () => {
    await using app = startApp()
    const streams: ServerResponse[] = []
    app.get('/stream', (_, reply) => {
      const { raw } = reply.hijack()
      raw.writeHead(200).flushHeaders()
      reply.endRequest()
      countEventStream(raw)
      streams.push(raw)
    })
    const origin = await app.listen({ host: '127.0.0.1', port: 0 })
    const client = request(`${origin}/stream`).end()
    await once(client, 'response')

    const ended = 'http_request_duration_seconds_count{method="GET",route="/stream",status="200"} 1'
    const open = await metricsOf(app)
    expect(open).toContain(ended)
    expect(open).toContain('http_requests_in_flight 1\n')
    expect(open).toContain('event_streams_open 1\n')
    client.on('error', () => {}).destroy()
    await once(streams[0]!, 'close')

    const closed = await metricsOf(app)
    expect(closed).toContain(ended)
    expect(closed).toContain('event_streams_open 0\n')
    expect(closed).not.toContain('route="/stream",status="499"')
  })

  it('reports the CPU time of the longest synchronous task since the last scrape', async () => {
    await using app = startApp()
    const longest = async () =>
      Number(/^event_loop_longest_task_cpu_seconds (\S+)$/m.exec(await metricsOf(app))?.[1])
    await longest()

    burnCpu(400)
    await new Promise(setImmediate)

    expect(await longest()).toBeGreaterThanOrEqual(0.4)
    // A scrape resets the value.
    expect(await longest()).toBeLessThan(0.2)
  })

  it('does not count the time in which the thread waits', async () => {
    await using app = startApp()
    await metricsOf(app)

    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400)

    const [, seconds] = /^event_loop_longest_task_cpu_seconds (\S+)$/m.exec(await metricsOf(app))!
    expect(Number(seconds)).toBeLessThan(0.2)
  })
})

const burnCpu = (ms: number) => {
  const begun = process.threadCpuUsage()
  const used = () => {
    const { user, system } = process.threadCpuUsage(begun)
    return (user + system) / 1000
  }
  while (used() < ms);
}
