import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { type Gateway, type GatewayTestOptions, json, reasonOf, startGateway } from '../testing.ts'

const forms = '/v2/organizations/acme/forms'

/** A gateway whose forms service answers once the test lets it. */
const startWaiting = async (options: GatewayTestOptions) => {
  const gateway = await startGateway(options)
  const letGo = Promise.withResolvers<object>()
  gateway.forms.answer = () => letGo.promise
  const received = (count: number) => expect.poll(() => gateway.forms.received.length).toBe(count)
  return { gateway, received, letGo: () => letGo.resolve({}) }
}

const scopeOf = (answer: Awaited<ReturnType<Gateway['send']>>) => {
  const [{ metadata }] = answer.json().error.details
  return [answer.status, reasonOf(answer), metadata, answer.headers['retry-after']]
}

/** Sends a GET, and reads nothing of the response before the test says so. */
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
  it('are bounded for a user, whatever the key, and for nobody else', async () => {
    const { gateway: started, received, letGo } = await startWaiting({ maxRequestsPerUser: 2 })
    await using gateway = started
    const second = gateway.directory.secondKey(gateway.key)
    const waiting = [gateway.send('GET', forms), gateway.send('GET', `${forms}/a`, { as: second })]
    await received(2)

    const refused = await gateway.send('GET', '/v2/organizations', { as: second })

    expect(scopeOf(refused)).toEqual([429, 'TOO_MANY_AT_ONCE', { scope: 'user', limit: '2' }, '1'])
    const colleague = gateway.directory.key([gateway.organization])
    waiting.push(gateway.send('GET', forms, { as: colleague }))
    await received(3)
    letGo()
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200, 200])
    expect((await gateway.send('GET', '/v2/organizations', { as: second })).status).toBe(200)
  })

  it('are bounded for an organization, at half of all, and not for another one', async () => {
    const { gateway: started, received, letGo } = await startWaiting({ maxRequests: 4 })
    await using gateway = started
    const colleagues = [1, 2, 3].map(() => gateway.directory.key([gateway.organization]))
    const waiting = colleagues.slice(1).map((as) => gateway.send('GET', forms, { as }))
    await received(2)

    expect(scopeOf(await gateway.send('GET', forms, { as: colleagues[0]! }))).toEqual([
      429,
      'TOO_MANY_AT_ONCE',
      { scope: 'organization', limit: '2' },
      '1',
    ])
    waiting.push(gateway.send('GET', forms, { as: gateway.stranger() }))
    await received(3)
    letGo()
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200, 200])
  })

  it('come after the rate limit and before the path', async () => {
    const {
      gateway: started,
      received,
      letGo,
    } = await startWaiting({
      maxRequestsPerUser: 1,
      rateLimitPerMinute: 3,
    })
    await using gateway = started
    const waiting = gateway.send('GET', forms)
    await received(1)

    const refused = [await gateway.send('PUT', '/v2/nowhere'), await gateway.send('PUT', '/v2/nowhere')]

    expect(refused.map(reasonOf)).toEqual(['TOO_MANY_AT_ONCE', 'TOO_MANY_AT_ONCE'])
    expect(reasonOf(await gateway.send('PUT', '/v2/nowhere'))).toBe('RATE_LIMITED')
    letGo()
    await waiting
  })

  it('count a write whose caller went away as long as the service works on it', async () => {
    const { gateway: started, received, letGo } = await startWaiting({ maxRequestsPerUser: 1 })
    await using gateway = started
    const impatient = new AbortController()
    const gone = fetch(gateway.origin + forms, {
      method: 'POST',
      headers: { ...json, 'x-api-key': gateway.key },
      body: '{}',
      signal: impatient.signal,
    })
    await received(1)
    impatient.abort()
    await expect(gone).rejects.toThrow()

    expect(reasonOf(await gateway.send('GET', '/v2/organizations'))).toBe('TOO_MANY_AT_ONCE')
    letGo()
    await expect.poll(async () => (await gateway.send('GET', '/v2/organizations')).status).toBe(200)
  })
})

describe('a read whose caller goes away', () => {
  it('is ended in the service, too', async () => {
    const { gateway: started, received } = await startWaiting({ maxRequestsPerUser: 1 })
    await using gateway = started
    const ended = Promise.withResolvers<void>()
    const { answer } = gateway.forms
    gateway.forms.answer = (request, reply) => {
      reply.raw.once('close', ended.resolve)
      return answer(request, reply)
    }
    const socket = await getUnread(gateway, forms)
    await received(1)

    const start = performance.now()
    socket.destroy()
    await ended.promise

    // Long before the gateway would give up on the service.
    expect(performance.now() - start).toBeLessThan(3_000)
    await expect.poll(async () => (await gateway.send('GET', '/v2/organizations')).status).toBe(200)
  })
})

describe('a long response', () => {
  it('counts as one for each 256 KiB until its last byte is taken', async () => {
    await using gateway = await startGateway({ maxRequestsPerUser: 17 })
    gateway.forms.answer = (_, reply) => reply.type('application/json').send(long.repeat(2))
    const reader = await getUnread(gateway, forms)
    await expect.poll(async () => (await gateway.send('GET', '/v2/organizations')).status).toBe(429)

    reader.resume()

    await expect.poll(async () => (await gateway.send('GET', '/v2/organizations')).status).toBe(200)
    reader.destroy()
  })

  it('is refused in the place of its response where it is too much', async () => {
    await using gateway = await startGateway({ maxRequestsPerUser: 40 })
    gateway.forms.answer = (_, reply) =>
      reply.type('application/json').header('etag', '"1-a"').send(long.repeat(2))
    const reader = await getUnread(gateway, forms)
    await expect.poll(() => gateway.forms.received.length).toBe(1)

    const refused = await gateway.send('GET', forms)

    expect([refused.status, reasonOf(refused)]).toEqual([429, 'TOO_MANY_AT_ONCE'])
    expect(refused.headers).not.toHaveProperty('etag')
    expect(refused.headers['content-length']).toBe(String(Buffer.byteLength(refused.text)))
    expect(gateway.forms.received).toHaveLength(2)
    reader.destroy()
  })

  it('waits for memory, and is refused where it waits for too long', async () => {
    await using gateway = await startGateway({ maxBufferedResponseBytes: 8 * mib })
    gateway.forms.answer = (_, reply) => reply.type('application/json').send(long.repeat(2))
    const key = gateway.stranger()
    const reader = await getUnread(gateway, forms, key)
    await expect.poll(() => gateway.forms.received.length).toBe(1)
    const metric = async () => {
      const { text } = await gateway.send('GET', '/metrics', { as: '' })
      return Number(/^response_bytes_buffered (\d+)/m.exec(text)![1])
    }
    await expect.poll(metric).toBe(8 * mib)

    const refused = await gateway.send('GET', forms)
    expect([refused.status, reasonOf(refused)]).toEqual([503, 'OVERLOADED'])
    // What is short needs none of it.
    expect((await gateway.send('GET', '/v2/organizations')).status).toBe(200)

    const waiting = gateway.send('GET', forms)
    await expect.poll(() => gateway.forms.received.length).toBe(3)
    reader.resume()
    expect((await waiting).status).toBe(200)
    reader.destroy()
    await expect.poll(metric).toBe(0)
  })
})
