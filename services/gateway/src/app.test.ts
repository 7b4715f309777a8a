import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { json, reasonOf, startGateway } from './testing.ts'

const form = '/v2/organizations/acme/forms/Ab3dE6gH9j'
const deletedForms = '/v2/organizations/acme/deletedForms'

describe('methods', () => {
  it.each([
    ['OPTIONS', '/v2/organizations', 'GET, HEAD'],
    ['POST', '/v2/organizations', 'GET, HEAD'],
    ['DELETE', '/v2/organizations/acme', 'GET, HEAD'],
    ['PUT', '/v2/organizations/acme/forms', 'GET, HEAD, POST'],
    ['OPTIONS', form, 'DELETE, GET, HEAD, PATCH'],
    ['PROPFIND', form, 'DELETE, GET, HEAD, PATCH'],
    ['GET', `${form}/publish`, 'POST'],
    ['POST', `${form}/revisions`, 'GET, HEAD'],
    ['POST', `${form}/changes`, 'GET, HEAD'],
    ['DELETE', `${form}/revisions/live`, 'GET, HEAD'],
    ['POST', '/v2/whoami', 'GET, HEAD'],
    ['DELETE', '/v2/keys', 'GET, HEAD, POST'],
    ['DELETE', '/v2/%6Beys', 'GET, HEAD, POST'],
    ['GET', '/v2/keys/x', 'DELETE'],
    ['GET', '/v2/keys/x/rotate', 'POST'],
    ['GET', '/v2/sessions', 'POST'],
    ['POST', deletedForms, 'GET, HEAD'],
    ['GET', `${deletedForms}/Ab3dE6gH9j`, 'DELETE'],
    ['GET', `${deletedForms}/Ab3dE6gH9j/undelete`, 'POST'],
  ])('%s %s is a 405 with Allow', async (method, path, allow) => {
    await using gateway = await startGateway()

    const response = await gateway.send(method, path, method === 'GET' ? {} : { headers: json, body: '{' })

    expect([response.status, reasonOf(response)]).toEqual([405, 'METHOD_NOT_ALLOWED'])
    expect(String(response.headers.allow).split(', ').sort().join(', ')).toBe(allow)
  })
})

describe('paths', () => {
  it.each([
    '/v2',
    '/v2/',
    '/v2/form',
    '/v2/organizations/',
    '/v2/organizations/acme/',
    '/v2/organizations/acme/forms/',
    '/v2/organizations//forms',
    '/v2/organizations/nobodys/forms/',
    '/v2//organizations',
    '/v2/Organizations',
    `${form}/`,
    `${form}/revisions/`,
    `${form}/publish/`,
    `${form}/changes/`,
    `${form}/unpublish/`,
    `${form}/unpublished`,
    `${deletedForms}/`,
    `${deletedForms}/Ab3dE6gH9j/`,
    '/v2/organizations/acme/deletedforms',
    `${form}/revisions/live/rollback/`,
    '/v2/keys/',
    '/v2/keys/x/',
    '/v2/keys//rotate',
    '/v2/keys/x/rotate/',
    '/v2/sessions/',
    '/v2/whoami/',
    '/v2/%zz',
  ])('%s is not found, with a key', async (path) => {
    await using gateway = await startGateway()

    const response = await gateway.send('GET', path)
    expect([response.status, reasonOf(response)]).toEqual([404, 'PATH_NOT_FOUND'])
    expect((await gateway.send('GET', path, { as: '' })).status).toBe(401)
    expect(gateway.forms.received).toEqual([])
  })

  it.each([
    '/organizations',
    '/V2/organizations',
    '/internal/authorize',
    '/f',
    '/f/Ab3dE6gH9j/x',
    '/v2organizations',
  ])('%s is not found, with or without a key', async (path) => {
    await using gateway = await startGateway()

    const response = await gateway.send('POST', path, { as: '', headers: json, body: '{' })

    expect([response.status, reasonOf(response)]).toEqual([404, 'PATH_NOT_FOUND'])
    expect(response.headers['x-request-id']).toBeTruthy()
    expect(response.headers['x-content-type-options']).toBe('nosniff')
  })
})

describe('a path that is a letter or two off', () => {
  it.each([
    ['/v2/organisations', '/v2/organizations'],
    ['/v2/organizations/acme/form', '/v2/organizations/acme/forms'],
    ['/v2/organizations/acme/forms/Ab3dE6gH9j/change', '/v2/organizations/acme/forms/Ab3dE6gH9j/changes'],
    ['/v2/organizations/acme/forms/', '/v2/organizations/acme/forms'],
    ['/v2//organizations/acme/form', '/v2/organizations/acme/forms'],
    ['/v2/organizations//forms', undefined],
    ['/v2/organizations/acme/forms//revisions', undefined],
    ['/v2/organizations/acme/nothing', undefined],
  ])('%s is a 404 that suggests %s', async (path, meant) => {
    await using gateway = await startGateway()

    const { error } = (await gateway.send('GET', path)).json()

    expect(error.details[0]).toMatchObject({ reason: 'PATH_NOT_FOUND' })
    expect(error.details[0].metadata).toEqual({ path, meant })
    expect(error.message.includes(`Did you mean ${meant}?`)).toBe(meant !== undefined)
  })

  it('is a 405 that suggests the path with the method, if it could be that of a form', async () => {
    await using gateway = await startGateway()
    const options = { headers: json, body: '{}' }

    const { error } = (await gateway.send('POST', '/v2/organizations/acme/forms/chek', options)).json()

    expect(error.details[0]).toMatchObject({ reason: 'METHOD_NOT_ALLOWED' })
    expect(error.details[0].metadata.meant).toBe('/v2/organizations/acme/forms/check')
    expect(error.message).toContain('Did you mean /v2/organizations/acme/forms/check?')
  })
})

describe('GET /readyz', () => {
  it('is 200 without NATS, and 503 without a service', async () => {
    await using gateway = await startGateway()
    expect((await gateway.send('GET', '/readyz', { as: '' })).status).toBe(200)
    expect((await gateway.send('GET', '/healthz', { as: '' })).status).toBe(200)

    await gateway.forms.stop()

    const response = await gateway.send('GET', '/readyz', { as: '' })
    expect([response.status, reasonOf(response)]).toEqual([503, 'NOT_READY'])
    expect((await gateway.send('GET', '/healthz', { as: '' })).status).toBe(200)
  })
})

describe('MAX_CONNECTIONS', () => {
  it('leaves room for everybody while one client without a key opens as many as it can', async () => {
    await using gateway = await startGateway({ maxConnections: 8 })
    const { hostname: host, port } = new URL(gateway.origin)
    const open = (key: string) => {
      const socket = connect({ host, port: Number(port) }).on('error', () => {})
      const send = () => {
        const { promise, resolve } = Promise.withResolvers<string>()
        socket
          .once('data', (data) => resolve(String(data).slice(9, 12)))
          .once('close', () => resolve('closed'))
        socket.write(`GET /v2/organizations HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\n\r\n`)
        return promise
      }
      return { socket, send }
    }
    const caller = open(gateway.key)
    expect(await caller.send()).toBe('200')

    const others = Array.from({ length: 32 }, () => open('none'))
    await Promise.all(others.map(({ send }) => send()))

    expect(await caller.send()).toBe('200')
    expect(await open(gateway.key).send()).toBe('200')
    for (const { socket } of [caller, ...others]) socket.destroy()
  })
})

describe('request heads', () => {
  it('are accepted up to 32 KiB', async () => {
    await using gateway = await startGateway()
    const statusWith = async (length: number) =>
      (await gateway.send('GET', '/v2/organizations', { headers: { 'x-long': 'a'.repeat(length) } })).status

    expect(await statusWith(32_000)).toBe(200)
    expect(await statusWith(33_000)).toBe(431)
  })
})

describe('close', () => {
  it('ends the attempts to connect to NATS', async () => {
    const [stopped, running] = await Promise.all([listenAsBrokenNats(), listenAsBrokenNats()])
    const gateway = await startGateway({ natsUrl: stopped.url })
    await using _other = await startGateway({ natsUrl: running.url })
    await stopped.attempts(1)

    await gateway[Symbol.asyncDispose]()

    const tried = stopped.count
    // Both would try as often.
    await running.attempts(running.count + 4)
    expect(stopped.count).toBeLessThanOrEqual(tried + 1)
  })
})

/** A server that closes each connection. */
const listenAsBrokenNats = async () => {
  const server = createServer((socket) => {
    broken.count++
    socket.destroy()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const broken = {
    url: `nats://127.0.0.1:${(server.address() as { port: number }).port}`,
    count: 0,
    /** Resolves once there were as many attempts to connect. */
    async attempts(count: number) {
      while (broken.count < count) await once(server, 'connection')
    },
  }
  return broken
}
