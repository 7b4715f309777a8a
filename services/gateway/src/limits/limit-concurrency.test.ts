import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { type Gateway, type GatewayTestOptions, json, reasonOf, startGateway } from '../testing.ts'

const forms = '/v2/organizations/acme/forms'

/** A gateway whose stub of forms responds when the test calls `release`. */
const startBlocked = async (options: GatewayTestOptions) => {
  const gateway = await startGateway(options)
  const blocked = Promise.withResolvers<object>()
  gateway.forms.respond = () => blocked.promise
  const received = (count: number) => expect.poll(() => gateway.forms.received.length).toBe(count)
  return { gateway, received, release: () => blocked.resolve({}) }
}

const scopeOf = (response: Awaited<ReturnType<Gateway['send']>>) => {
  const [{ metadata }] = response.json().error.details
  return [response.status, reasonOf(response), metadata, response.headers['retry-after']]
}

/** Sends a GET, and reads no byte of the response until the test resumes the socket. */
const getUnread = async (gateway: Gateway, path: string, key = gateway.key): Promise<Socket> => {
  const { hostname, port } = new URL(gateway.origin)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.pause()
  await once(socket, 'connect')
  socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\n\r\n`)
  return socket
}

const mib = 1024 * 1024
const long = ' '.repeat(4 * mib)

describe('requests in flight', () => {
  it('are bounded for each user, over all keys', async () => {
    const { gateway: started, received, release } = await startBlocked({ maxRequestsPerUser: 2 })
    await using gateway = started
    const second = gateway.directory.createSecondKey(gateway.key)
    const waiting = [gateway.send('GET', forms), gateway.send('GET', `${forms}/a`, { as: second })]
    await received(2)

    const rejected = await gateway.send('GET', '/v2/organizations', { as: second })

    expect(scopeOf(rejected)).toEqual([429, 'TOO_MANY_AT_ONCE', { scope: 'user', limit: '2' }, '1'])
    const colleague = gateway.directory.createKey([gateway.organization])
    waiting.push(gateway.send('GET', forms, { as: colleague }))
    await received(3)
    release()
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200, 200])
    expect((await gateway.send('GET', '/v2/organizations', { as: second })).status).toBe(200)
  })

  it('over the limit are refused after a pause, in which others are served', async () => {
    const { gateway: started, received, release } = await startBlocked({ maxRequestsPerUser: 1 })
    await using gateway = started
    const stranger = gateway.createStrangerKey()
    const waiting = gateway.send('GET', forms)
    await received(1)
    const statuses: number[] = []
    const send = async (as: string) => {
      statuses.push((await gateway.send('GET', '/v2/organizations', { as })).status)
    }

    await Promise.all([send(gateway.key), send(stranger)])

    expect(statuses).toEqual([200, 429])
    release()
    await waiting
  })

  it('are bounded for each organization', async () => {
    const { gateway: started, received, release } = await startBlocked({ maxRequestsPerOrganization: 2 })
    await using gateway = started
    const colleagues = [1, 2, 3].map(() => gateway.directory.createKey([gateway.organization]))
    const waiting = colleagues.slice(1).map((as) => gateway.send('GET', forms, { as }))
    await received(2)

    expect(scopeOf(await gateway.send('GET', forms, { as: colleagues[0]! }))).toEqual([
      429,
      'TOO_MANY_AT_ONCE',
      { scope: 'organization', limit: '2' },
      '1',
    ])
    waiting.push(gateway.send('GET', forms, { as: gateway.createStrangerKey() }))
    await received(3)
    release()
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200, 200])
  })

  it('include those that wait for their turn', async () => {
    const {
      gateway: started,
      received,
      release,
    } = await startBlocked({ maxRequests: 1, maxRequestsPerUser: 2 })
    await using gateway = started
    const waiting = [gateway.send('GET', forms), gateway.send('GET', forms)]
    await received(1)

    await expect.poll(async () => reasonOf(await gateway.send('GET', '/v2/nowhere'))).toBe('TOO_MANY_AT_ONCE')

    release()
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200])
  })

  it('are checked after the rate limit and before the path', async () => {
    const {
      gateway: started,
      received,
      release,
    } = await startBlocked({
      maxRequestsPerUser: 1,
      rateLimitPerMinute: 3,
    })
    await using gateway = started
    const waiting = gateway.send('GET', forms)
    await received(1)

    const rejected = [await gateway.send('PUT', '/v2/nowhere'), await gateway.send('PUT', '/v2/nowhere')]

    expect(rejected.map(reasonOf)).toEqual(['TOO_MANY_AT_ONCE', 'TOO_MANY_AT_ONCE'])
    expect(reasonOf(await gateway.send('PUT', '/v2/nowhere'))).toBe('RATE_LIMITED')
    release()
    await waiting
  })

  it('include a write whose caller disconnected, until the service responds', async () => {
    const { gateway: started, received, release } = await startBlocked({ maxRequestsPerUser: 1 })
    await using gateway = started
    const caller = new AbortController()
    const aborted = fetch(gateway.origin + forms, {
      method: 'POST',
      headers: { ...json, 'x-api-key': gateway.key },
      body: '{}',
      signal: caller.signal,
    })
    await received(1)
    caller.abort()
    await expect(aborted).rejects.toThrow()

    expect(reasonOf(await gateway.send('GET', '/v2/organizations'))).toBe('TOO_MANY_AT_ONCE')
    release()
    await expect.poll(async () => (await gateway.send('GET', '/v2/organizations')).status).toBe(200)
  })
})

describe('a read whose caller disconnects', () => {
  it('is aborted in the service', async () => {
    const { gateway: started, received } = await startBlocked({ maxRequestsPerUser: 1 })
    await using gateway = started
    const ended = Promise.withResolvers<void>()
    const { respond } = gateway.forms
    gateway.forms.respond = (request, reply) => {
      reply.raw.once('close', ended.resolve)
      return respond(request, reply)
    }
    const socket = await getUnread(gateway, forms)
    await received(1)

    const start = performance.now()
    socket.destroy()
    await ended.promise

    // The timeout of the upstream is 6 s.
    expect(performance.now() - start).toBeLessThan(5_000)
    await expect.poll(async () => (await gateway.send('GET', '/v2/organizations')).status).toBe(200)
  })
})

describe('a long response', () => {
  const metricOf = (gateway: Gateway) => async () => {
    const { text } = await gateway.send('GET', '/metrics', { as: '' })
    return Number(/^gateway_bytes_reserved\{of="responses"\} (\d+)/m.exec(text)![1])
  }

  it('counts as under way until its last byte is read', async () => {
    await using gateway = await startGateway({ maxRequestsPerUser: 1 })
    gateway.forms.respond = (_, reply) => reply.type('application/json').send(long.repeat(2))
    const reader = await getUnread(gateway, forms)
    await expect.poll(metricOf(gateway)).toBe(5.5 * mib)
    expect((await gateway.send('GET', '/v2/organizations')).status).toBe(429)

    reader.resume()

    await expect.poll(async () => (await gateway.send('GET', '/v2/organizations')).status).toBe(200)
    reader.destroy()
  })

  it('waits for the memory of its organization, then is replaced by a 503; others have theirs', async () => {
    await using gateway = await startGateway({ maxBufferedResponseBytes: 64 * mib })
    gateway.forms.respond = (_, reply) =>
      reply.type('application/json').header('etag', '"1-a"').send(long.repeat(2))
    const metric = metricOf(gateway)
    const reader = await getUnread(gateway, forms)
    await expect.poll(metric).toBe(5.5 * mib)

    const rejected = await gateway.send('GET', forms)

    expect([rejected.status, reasonOf(rejected)]).toEqual([503, 'OVERLOADED'])
    expect(rejected.headers).not.toHaveProperty('etag')
    expect(rejected.headers['content-length']).toBe(String(Buffer.byteLength(rejected.text)))
    // Short responses need none of it.
    expect((await gateway.send('GET', '/v2/organizations')).status).toBe(200)
    expect((await gateway.send('GET', forms, { as: gateway.createStrangerKey() })).status).toBe(200)
    const waiting = gateway.send('GET', forms)
    await expect.poll(() => gateway.forms.received.length).toBe(4)
    reader.resume()
    expect((await waiting).status).toBe(200)
    reader.destroy()
    await expect.poll(metric).toBe(0)
  })

  it('holds nothing once its caller has gone, not even for one that waits on the same connection', async () => {
    await using gateway = await startGateway()
    const dropped = Promise.withResolvers<void>()
    gateway.forms.respond = (_, reply) => {
      if (gateway.forms.received.length === 2) reply.raw.once('close', dropped.resolve)
      return reply.type('application/json').send(long.repeat(2))
    }
    const reader = await getUnread(gateway, forms)
    await expect.poll(metricOf(gateway)).toBe(5.5 * mib)
    reader.write(`GET ${forms} HTTP/1.1\r\nhost: x\r\nx-api-key: ${gateway.key}\r\n\r\n`)
    await dropped.promise

    reader.destroy()

    await expect.poll(metricOf(gateway)).toBe(0)
  })
})
