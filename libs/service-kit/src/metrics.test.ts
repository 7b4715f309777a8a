import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { createApp } from './create-app.ts'

describe('GET /metrics', () => {
  it('counts requests by method, route and status, in the Prometheus text format', async () => {
    await using app = createApp({ logger: pino({ level: 'silent' }) })
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
    expect(body).toContain('nodejs_eventloop_lag_seconds')
  })
})
