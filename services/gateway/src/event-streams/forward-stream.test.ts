import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { identityHeader } from '@fms/contracts'
import { closeTimeoutMs, createIdentityVerifier } from '@fms/service-kit'
import { openEventStream } from '@fms/testkit/open-event-stream'
import type { FastifyReply } from 'fastify'
import { describe, expect, it, vi } from 'vitest'
import { type GatewayTestOptions, reasonOf, secret, startGateway } from '../testing.ts'

const path = '/v2/organizations/acme/events/stream'
const block = 'id: 0000000000000001\nevent: form.created\ndata: {"a":1}\n\n'

const wait = <T>(condition: () => T) => vi.waitUntil(condition, { timeout: 20_000, interval: 20 })

/** A gateway with a stub of forms whose responses are streams that the test writes. */
const startStreaming = async (options: GatewayTestOptions = {}) => {
  await using stack = new AsyncDisposableStack()
  const gateway = stack.use(await startGateway(options))
  const disposer = stack.move()
  /** The streams that forms has open. */
  const upstream: ServerResponse[] = []
  const begin = (reply: FastifyReply) => {
    const { raw } = reply.hijack()
    raw.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
    raw.write(':\n\n')
    upstream.push(raw)
    raw.once('close', () => upstream.splice(upstream.indexOf(raw), 1))
  }
  const respond = ({ url }: { url: string }, reply: FastifyReply) =>
    url.includes('/stream') ? begin(reply) : { from: 'forms' }
  gateway.forms.respond = respond
  const metric = async (pattern: RegExp) =>
    Number(pattern.exec((await gateway.send('GET', '/metrics')).text)![1])
  return {
    ...gateway,
    upstream,
    respond,
    open: async (query = '', headers: Record<string, string> = {}, as = gateway.key) => {
      const url = `${gateway.origin}${path}${query}`
      return disposer.use(await openEventStream(url, { 'x-api-key': as, ...headers }))
    },
    /** Streams that have ended for this reason, of all tests of this file. */
    endedFor: async (reason: string) =>
      metric(new RegExp(`event_streams_ended_total{reason="${reason}"} (\\d+)`)),
    metric,
    [Symbol.asyncDispose]: () => disposer.disposeAsync(),
  }
}

describe('GET /v2/organizations/{organization}/events/stream', () => {
  it('copies the stream of forms, which gets the query, the position and the identity', async () => {
    await using gateway = await startStreaming({ rateLimitPerMinute: 100 })
    const stream = await gateway.open('?filter=type=x', { 'last-event-id': '5', accept: 'text/event-stream' })
    gateway.upstream[0]!.write(block)
    await wait(() => stream.events().length === 1)

    expect(stream.text()).toBe(`:\n\n${block}`)
    expect(stream.status).toBe(200)
    expect(stream.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'private, no-cache',
      'x-accel-buffering': 'no',
      vary: 'x-api-key',
      'x-request-id': expect.any(String),
      'ratelimit-remaining': '99',
    })
    const { url, headers } = gateway.forms.received[0]!
    expect(url).toBe(`/organizations/${gateway.organization.organizationId}/events/stream?filter=type=x`)
    expect(headers).toMatchObject({ 'last-event-id': '5', 'x-request-id': stream.headers['x-request-id'] })
    expect(headers).not.toHaveProperty('x-api-key')
    expect(createIdentityVerifier([secret])(String(headers[identityHeader]))).toMatchObject({
      organizationId: gateway.organization.organizationId,
    })
  })

  it('forwards an error of forms, which takes no stream', async () => {
    await using gateway = await startStreaming()
    const error = { error: { code: 400, details: [{ reason: 'EVENTS_PRUNED' }] } }
    gateway.forms.respond = (_, reply) => reply.code(400).send(error)
    for (let attempt = 0; attempt < 6; attempt++) {
      const { status, headers, json } = await gateway.send('GET', path)
      expect([status, json()]).toEqual([400, error])
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'content-type': expect.stringContaining('json'),
      })
    }
  })

  it('responds to HEAD with only the head', async () => {
    await using gateway = await startStreaming()
    gateway.forms.respond = (_, reply) => reply.type('text/event-stream').send()

    const { status, headers, text } = await gateway.send('HEAD', path)

    expect([status, headers['content-type'], text]).toEqual([200, 'text/event-stream', ''])
  })

  it('needs a key, a membership and the right method', async () => {
    await using gateway = await startStreaming()
    const refused = async (method: string, as?: string) => {
      const response = await gateway.send(method, path, as === undefined ? {} : { as })
      return [response.status, reasonOf(response)]
    }

    expect(await refused('GET', '')).toEqual([401, 'API_KEY_INVALID'])
    expect(await refused('GET', gateway.directory.createKey([]))).toEqual([404, 'ORGANIZATION_NOT_FOUND'])
    expect(await refused('POST')).toEqual([405, 'METHOD_NOT_ALLOWED'])
    expect(gateway.forms.received).toEqual([])
  })

  it('is a 503 while forms is unavailable', async () => {
    await using gateway = await startStreaming()
    await gateway.forms.stop()

    const response = await gateway.send('GET', path)
    expect([response.status, reasonOf(response)]).toEqual([503, 'UPSTREAM_UNAVAILABLE'])
  })

  it('is available to pages of a configured origin, with Last-Event-ID', async () => {
    const origin = 'https://app.example.com'
    await using gateway = await startStreaming({ corsOrigins: origin })

    const stream = await gateway.open('', { origin })

    expect(stream.headers).toMatchObject({ 'access-control-allow-origin': origin, vary: 'Origin, x-api-key' })
  })
})

describe('open event streams', () => {
  it('are at most 5 of a key', async () => {
    await using gateway = await startStreaming()
    const streams = await Promise.all(Array.from({ length: 5 }, () => gateway.open()))
    const refused = await gateway.send('GET', path)
    expect([refused.status, reasonOf(refused), refused.headers['retry-after']]).toEqual([
      429,
      'TOO_MANY_STREAMS',
      '5',
    ])
    expect(await gateway.metric(/^event_streams_open (\d+)/m)).toBe(5)

    const other = gateway.directory.createSecondKey(gateway.key)
    expect((await gateway.open('', {}, other)).status).toBe(200)
    streams[0]!.close()
    await wait(async () => (await gateway.metric(/^event_streams_open (\d+)/m)) === 5)
    expect((await gateway.open()).status).toBe(200)
  })

  it('are no requests in flight: neither of the process, nor of the user', async () => {
    await using gateway = await startStreaming({ maxRequests: 1, maxRequestsPerUser: 1 })
    await gateway.open()
    await gateway.open()

    expect((await gateway.send('GET', '/v2/organizations/acme/forms')).status).toBe(200)
    expect((await gateway.open()).status).toBe(200)
    // The request for metrics itself, and those of the stub of forms in this process.
    expect(await gateway.metric(/^http_requests_in_flight (\d+)/m)).toBe(1 + gateway.upstream.length)
  })

  it('count once for the rate limit', async () => {
    await using gateway = await startStreaming({ rateLimitPerMinute: 2 })
    const stream = await gateway.open()
    await wait(() => gateway.directory.authorizeRequests.length >= 3)

    expect(stream.ended()).toBeUndefined()
    expect((await gateway.send('GET', '/v2/organizations/acme')).headers['ratelimit-remaining']).toBe('0')
  })

  it('end when the key is revoked, as a complete response', async () => {
    await using gateway = await startStreaming()
    const stream = await gateway.open()
    const endedBefore = await gateway.endedFor('unauthorized')
    gateway.directory.revoke(gateway.key)
    const before = gateway.directory.authorizeRequests.length
    await wait(() => stream.ended())

    expect(stream.ended()).toBe('complete')
    // One is sent every two seconds at the latest.
    expect(gateway.directory.authorizeRequests.length - before).toBeLessThanOrEqual(2)
    expect(await gateway.endedFor('unauthorized')).toBe(endedBefore + 1)
    await wait(() => gateway.upstream.length === 0)
  })

  it('end when the membership ends, also if another organization takes the slug', async () => {
    await using gateway = await startStreaming()
    const stream = await gateway.open()
    const endedBefore = await gateway.endedFor('unauthorized')
    const { memberships } = gateway.directory.userOf(gateway.key)
    memberships.splice(0, 1, { ...gateway.organization, organizationId: crypto.randomUUID() })

    await wait(() => stream.ended())

    expect(stream.ended()).toBe('complete')
    expect(await gateway.endedFor('unauthorized')).toBe(endedBefore + 1)
  })

  it('stay open for 30 seconds while organizations is unavailable', async () => {
    const clock = { now: 0 }
    await using gateway = await startStreaming({ now: () => clock.now })
    const stream = await gateway.open()
    const [endedBefore, unauthorized] = [
      await gateway.endedFor('unavailable'),
      await gateway.endedFor('unauthorized'),
    ]
    await gateway.organizations.stop()
    clock.now = 29_000
    const ended = () => stream.ended()
    await expect(vi.waitUntil(ended, { timeout: 5_000, interval: 50 })).rejects.toThrow()

    clock.now = 32_000
    await wait(ended)
    expect(ended()).toBe('complete')
    expect(await gateway.endedFor('unavailable')).toBe(endedBefore + 1)
    expect(await gateway.endedFor('unauthorized')).toBe(unauthorized)
  })

  it('end the request to forms at once when the caller disconnects', async () => {
    await using gateway = await startStreaming()
    const stream = await gateway.open()
    expect(gateway.upstream).toHaveLength(1)
    stream.close()

    await wait(() => gateway.upstream.length === 0)
    expect(gateway.directory.authorizeRequests).toHaveLength(1)
  })

  it.each<[string, (stream: ServerResponse) => void]>([
    ['ends', (stream) => stream.end()],
    ['breaks', (stream) => stream.destroy()],
  ])('end as a complete response when the stream of forms %s, which is no failure', async (_, end) => {
    await using gateway = await startStreaming()
    const failures = () => gateway.metric(/circuit_requests_total\{circuit="forms",outcome="failure"\} (\d+)/)
    const before = await failures()
    const streams = await Promise.all(Array.from({ length: 5 }, () => gateway.open()))
    for (const stream of [...gateway.upstream]) {
      stream.write(block)
      end(stream)
    }
    await wait(() => streams.every((stream) => stream.ended()))

    expect(streams.map((stream) => stream.ended())).toEqual(Array(5).fill('complete'))
    expect(await failures()).toBe(before)
    expect((await gateway.send('GET', '/v2/organizations/acme/forms')).status).toBe(200)
    expect((await gateway.open()).status).toBe(200)
  })

  it('end as complete responses when the gateway drains', async () => {
    await using gateway = await startStreaming()
    const stream = await gateway.open()
    const draining = gateway.app.drain(1)
    await wait(() => stream.ended())
    await draining

    expect(stream.ended()).toBe('complete')
    // A caller that resumes before its load balancer has noticed is served until the gateway closes.
    const resumed = await gateway.open()
    const closing = gateway.app.close()
    await wait(() => resumed.ended())
    expect(resumed.ended()).toBe('complete')
    await closing
  })
})

describe('a caller that does not read its stream', () => {
  const mebibyte = `data: ${'x'.repeat(1024 * 1024)}\n\n`

  /** Writes until the gateway reads no more. */
  const flood = async (stream: ServerResponse) => {
    const closed = once(stream, 'close')
    let bytes = 0
    while (!stream.destroyed && bytes < 64 * 1024 * 1024) {
      bytes += mebibyte.length
      if (!stream.write(mebibyte)) await Promise.race([once(stream, 'drain'), closed])
    }
    return bytes
  }

  it('is cut off, and the gateway buffers nothing for it', async () => {
    await using gateway = await startStreaming()
    const cutOff = () => gateway.metric(/^responses_cut_off_total\{reason="stalled"\} (\d+)/m)
    const before = await cutOff()
    const stream = await gateway.open()
    stream.pause()
    const written = flood(gateway.upstream[0]!)
    await wait(() => gateway.upstream.length === 0)

    // What is in flight fits in socket buffers.
    expect(await written).toBeLessThan(32 * 1024 * 1024)
    stream.resume()
    await wait(() => stream.ended())
    expect(stream.ended()).toBe('broken')
    expect(await cutOff()).toBe(before + 1)
  })

  it('does not keep the gateway from its end in time', async () => {
    await using gateway = await startStreaming()
    const stream = await gateway.open()
    const [upstream] = gateway.upstream
    stream.pause()
    void flood(upstream!)
    const isStuck = () =>
      once(upstream!, 'drain', { signal: AbortSignal.timeout(1_000) }).then(
        () => false,
        () => true,
      )
    await wait(isStuck)

    const closed = gateway.app.close().then(() => 'closed')

    expect(await Promise.race([closed, delay(closeTimeoutMs, 'aborted')])).toBe('closed')
  })

  it('is not cut off if it reads again in time', async () => {
    await using gateway = await startStreaming()
    const stream = await gateway.open()
    const [upstream] = gateway.upstream
    stream.pause()
    const written = flood(upstream!)
    await wait(() => upstream!.writableNeedDrain)
    stream.resume()
    await written
    upstream!.write(block)
    await wait(() => stream.text().endsWith(block))

    expect(stream.ended()).toBeUndefined()
  })
})
