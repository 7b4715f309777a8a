import { request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { ApiError } from '@fms/aip'
import { ErrorBody } from '@fms/contracts'
import type { InjectOptions } from 'fastify'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type AppOptions, createApp, smallBodyBytes } from './create-app.ts'

/** An app with three routes, and its log lines. */
const startApp = (options: Partial<AppOptions> = {}) => {
  const lines: Record<string, unknown>[] = []
  const logger = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line)) })
  const app = createApp({ logger, ...options })
  app.post(
    '/things',
    { schema: { body: z.strictObject({ name: z.string(), size: z.number().optional() }) } },
    async ({ body }) => body,
  )
  app.get('/things/:thing', async ({ params }) => params)
  app.delete('/things/:thing', async ({ body }) => ({ body }))
  return { app, lines }
}

const post = (payload: InjectOptions['payload'], contentType = 'application/json'): InjectOptions => ({
  method: 'POST',
  url: '/things',
  headers: { 'content-type': contentType },
  ...(payload !== undefined && { payload }),
})

/** Sends a request that has to fail. @returns the parts of the error, after checking its contract. */
const errorOf = async ({ app }: ReturnType<typeof startApp>, options: InjectOptions | string) => {
  const response = await app.inject(options)
  const { error } = ErrorBody.parse(response.json())
  const [info, ...details] = error.details
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
  expect(details.at(-1)).toMatchObject({ requestId: response.headers['x-request-id'] })
  expect(error.code).toBe(response.statusCode)
  return {
    code: error.code,
    status: error.status,
    message: error.message,
    info,
    details,
    headers: response.headers,
  }
}

describe('an app', () => {
  it('sends the results of its routes', async () => {
    const { app } = startApp()

    expect((await app.inject(post({ name: 'a' }))).json()).toEqual({ name: 'a' })
    expect((await app.inject(post('{"name":"a"}', 'application/json; charset=utf-8'))).statusCode).toBe(200)
  })

  it.each(['/healthz', '/readyz', '/metrics'])('ignores the query of %s', async (path) => {
    const { app } = startApp()

    const statuses = await Promise.all(
      ['', '?', '?probe=kube', '?a=1&a=2', '?%zz', '?/things'].map(
        async (query) => (await app.inject(path + query)).statusCode,
      ),
    )

    expect(statuses).toEqual(Array(6).fill(200))
  })

  describe('at an unknown path', () => {
    it.each(['/', '/thing', '/Things', '/things/', '/things//', '//things', '/things/a/', '/things/a/b'])(
      'responds to %s with 404',
      async (url) => {
        expect(await errorOf(startApp(), url)).toMatchObject({
          code: 404,
          status: 'NOT_FOUND',
          info: { reason: 'PATH_NOT_FOUND', metadata: { path: url } },
        })
      },
    )

    it('repeats at most 200 characters of the path', async () => {
      const path = `/${'x'.repeat(5_000)}`

      expect(await errorOf(startApp(), path)).toMatchObject({
        info: { metadata: { path: path.slice(0, 200) } },
      })
    })

    it('responds before it reads the body', async () => {
      const options = { ...post('{', 'text/plain'), url: '/nothing' }

      expect(await errorOf(startApp(), options)).toMatchObject({ code: 404 })
    })

    it.each(['/%', '/%zz?a=b', '/a%ff'])(
      'responds to the malformed percent-encoding %s with 404',
      async (url) => {
        expect(await errorOf(startApp(), url)).toMatchObject({
          code: 404,
          info: { metadata: { path: url.split('?')[0] } },
        })
      },
    )
  })

  it.each([
    ['%', '_'],
    ['%zz', '_zz'],
    ['%ff', '_ff'],
    ['100%25%', '100_25_'],
  ])('reads the malformed reference %s as %s', async (malformed, thing) => {
    const { app } = startApp()

    expect((await app.inject(`/things/${malformed}`)).json()).toEqual({ thing })
  })

  it('decodes a well-formed reference', async () => {
    const { app } = startApp()

    expect((await app.inject('/things/a%2Fb%20%25')).json()).toEqual({ thing: 'a/b %' })
  })

  it('accepts long references', async () => {
    const { app } = startApp()
    const thing = 'x'.repeat(100_000)

    expect((await app.inject(`/things/${thing}`)).json()).toEqual({ thing })
  })

  it.each([
    ['GET', '/things', 'POST'],
    ['PATCH', '/things/a', 'GET, HEAD, DELETE'],
    ['OPTIONS', '/things/a', 'GET, HEAD, DELETE'],
    ['PATCH', '/%74hin%67s/%25zz', 'GET, HEAD, DELETE'],
    ['PATCH', '/%74hings/a%2Fb?%', 'GET, HEAD, DELETE'],
    ['POST', '/healthz', 'GET, HEAD'],
  ] as const)('responds to %s %s with 405 and the allowed methods', async (method, url, allow) => {
    expect(await errorOf(startApp(), { method, url })).toMatchObject({
      code: 405,
      status: 'INVALID_ARGUMENT',
      info: { reason: 'METHOD_NOT_ALLOWED', metadata: { method } },
      headers: { allow: expect.stringMatching(new RegExp(`^(?=.*${allow.replaceAll(', ', ')(?=.*')})`)) },
    })
  })

  it('supports HEAD where it supports GET', async () => {
    const { app } = startApp()
    const response = await app.inject({ method: 'HEAD', url: '/things/a' })

    expect(response.statusCode).toBe(200)
    expect(response.body).toBe('')
    expect(response.headers['content-length']).toBe('13')
  })

  it.each(['GET', 'HEAD'] as const)('sends no content-length in a 304 to %s', async (method) => {
    const { app } = startApp()
    app.get('/unchanged', (_, reply) => reply.code(304).send())
    const response = await app.inject({ method, url: '/unchanged' })

    expect([response.statusCode, response.headers['content-length']]).toEqual([304, undefined])
  })

  describe('with a body', () => {
    it.each([
      'text/plain',
      'application/xml',
      'application/jsonp',
      'application/merge-patch+json',
      'nonsense',
      '',
    ])('rejects the media type "%s"', async (contentType) => {
      expect(await errorOf(startApp(), post('{"name":"a"}', contentType))).toMatchObject({
        code: 415,
        status: 'INVALID_ARGUMENT',
        info: { reason: 'UNSUPPORTED_MEDIA_TYPE', metadata: { contentType } },
      })
    })

    it('accepts 16 KiB', async () => {
      const { app } = startApp()
      const name = 'x'.repeat(smallBodyBytes - '{"name":""}'.length)

      expect((await app.inject(post({ name }))).statusCode).toBe(200)
    })

    it('rejects more than 16 KiB', async () => {
      const name = 'x'.repeat(smallBodyBytes - '{"name":""}'.length + 1)

      expect(await errorOf(startApp(), post({ name }))).toMatchObject({
        code: 413,
        status: 'INVALID_ARGUMENT',
        info: { reason: 'BODY_TOO_LARGE', metadata: { bodyLimitBytes: '16384' } },
      })
    })

    it.each([
      '{',
      '{"name":"a"} x',
      "{'name':'a'}",
      '\ufeff{}',
      '{"name":"\\ud800"}',
      Buffer.of(0x22, 0xff, 0x22),
    ])('rejects %s, which is not JSON', async (payload) => {
      expect(await errorOf(startApp(), post(payload))).toMatchObject({
        code: 400,
        status: 'INVALID_ARGUMENT',
        info: { reason: 'MALFORMED_JSON' },
      })
    })

    it('reports all violations', async () => {
      expect(await errorOf(startApp(), post({ size: 'big', colour: 'red' }))).toMatchObject({
        code: 400,
        info: { reason: 'INVALID_REQUEST', metadata: { field: 'name' } },
        details: [
          {
            fieldViolations: [
              { field: 'name', description: 'is required' },
              { field: 'size', description: 'must be a number' },
              { field: 'colour', description: 'is not a known field' },
            ],
          },
          {},
        ],
      })
    })

    it.each(['null', '[]', '"text"', '1'])('rejects %s, which is not an object', async (payload) => {
      expect(await errorOf(startApp(), post(payload))).toMatchObject({
        code: 400,
        info: { reason: 'INVALID_REQUEST', metadata: { field: '' } },
      })
    })

    it('logs and counts no failure when a client disconnects in the middle', async () => {
      const { app, lines } = startApp()
      const counts = async () => (await app.inject('/metrics')).body.match(/^http_error_responses_total{.*/gm)
      const before = await counts()
      await app.listen({ port: 0, host: '127.0.0.1' })
      const { port } = app.server.address() as AddressInfo
      const closed = new Promise((resolve) =>
        app.server.once('connection', (connection) => connection.once('close', resolve)),
      )
      const head = [
        'POST /things HTTP/1.1',
        'host: a',
        'content-type: application/json',
        'content-length: 100',
      ]
      const socket = connect(port, '127.0.0.1')
      socket.write(`${head.join('\r\n')}\r\n\r\n{"name":`, () => setTimeout(() => socket.destroy(), 20))
      await closed

      expect(await counts()).toEqual(before)
      await app.close()
      expect(lines.filter(({ level }) => Number(level) > 30)).toEqual([])
    })

    it('accepts requests without a body', async () => {
      const { app } = startApp()
      const headers = { 'content-type': 'application/json' }

      expect((await app.inject({ method: 'DELETE', url: '/things/a' })).statusCode).toBe(200)
      expect((await app.inject({ method: 'DELETE', url: '/things/a', headers })).statusCode).toBe(200)
    })
  })

  describe('gives every response a request id', () => {
    it.each(['a', '~!"', 'x'.repeat(128)])('the id of the request: %s', async (id) => {
      const { app } = startApp()
      const headers = { 'x-request-id': id }

      for (const url of ['/things/a', '/nothing', '/healthz']) {
        expect((await app.inject({ url, headers })).headers['x-request-id']).toBe(id)
      }
    })

    it.each(['', 'a b', 'é', 'x'.repeat(129), '\t'])('a new one in place of "%s"', async (id) => {
      const { app } = startApp()
      const response = await app.inject({ url: '/things/a', headers: { 'x-request-id': id } })

      expect(response.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    })

    it('a new one in place of two', async () => {
      const { app } = startApp()
      await app.listen({ port: 0 })
      const { port } = app.server.address() as AddressInfo
      const headers = ['host', 'localhost', 'x-request-id', 'one', 'x-request-id', 'two']
      const id = await new Promise((resolve, reject) => {
        request({ port, path: '/things/a', headers }, (response) => {
          resolve(response.headers['x-request-id'])
          response.resume()
        })
          .on('error', reject)
          .end()
      })
      await app.close()

      expect(id).toMatch(/^[0-9a-f-]{36}$/)
    })

    it('except behind the gateway, which has given it one already', async () => {
      const { app } = startApp({ isBehindGateway: true })
      const response = await app.inject({ url: '/nothing', headers: { 'x-request-id': 'r-1' } })

      expect(response.headers).not.toHaveProperty('x-request-id')
      expect(response.body).toContain('"requestId":"r-1"')
    })

    it('that the log line has as well', async () => {
      const { app, lines } = startApp()
      await app.inject({ url: '/things/a', headers: { 'x-request-id': 'r-1' } })

      expect(lines).toMatchObject([
        {
          request_id: 'r-1',
          method: 'GET',
          route: '/things/:thing',
          status: 200,
          duration_ms: expect.any(Number),
        },
      ])
    })
  })

  describe('probes', () => {
    it('report that the app is alive and ready', async () => {
      const { app, lines } = startApp({ ready: async () => {} })

      expect((await app.inject('/healthz')).json()).toEqual({ status: 'ok' })
      expect((await app.inject('/readyz')).json()).toEqual({ status: 'ready' })
      expect(lines).toMatchObject([{ msg: 'ready' }])
    })

    it('report 503 while the app is not ready, and only the log has the reason', async () => {
      const service = startApp({ ready: () => Promise.reject(new Error('no route to db-1')) })
      const { headers, message, ...rest } = await errorOf(service, '/readyz')

      expect(rest).toMatchObject({
        code: 503,
        status: 'UNAVAILABLE',
        info: { reason: 'NOT_READY' },
        details: [{ retryDelay: '1s' }, {}],
      })
      expect(headers['retry-after']).toBe('1')
      expect(message).not.toContain('db-1')
      expect(service.lines).toMatchObject([{ msg: 'not ready', reason: 'no route to db-1' }])
      expect((await service.app.inject('/healthz')).statusCode).toBe(200)
    })

    it("log the store's advice to operators in place of its message to callers", async () => {
      const advice = 'MongoDB rejects its user or password.'
      const error = new ApiError('UNAVAILABLE', 'STORE_UNAVAILABLE', 'Try again.', { advice })
      const service = startApp({ ready: () => Promise.reject(error) })
      const { message } = await errorOf(service, '/readyz')

      expect(message).not.toContain(advice)
      expect(service.lines).toMatchObject([{ msg: 'not ready', reason: advice }])
    })

    it('log changes only', async () => {
      let reason: Error | undefined
      const { app, lines } = startApp({
        ready: async () => {
          if (reason) throw reason
        },
      })
      const probe = async (next?: Error) => {
        reason = next
        return (await app.inject('/readyz')).statusCode
      }

      const unreachable = new Error('unreachable')
      expect([await probe(unreachable), await probe(unreachable), await probe(), await probe()]).toEqual([
        503, 503, 200, 200,
      ])
      expect(lines).toMatchObject([{ msg: 'not ready' }, { msg: 'ready' }])
    })

    it('log nothing at level silent', async () => {
      const lines: string[] = []
      const logger = pino({ level: 'silent' }, { write: (line) => lines.push(line) })
      const { app } = startApp({ logger, ready: () => Promise.reject(new Error('away')) })
      await app.inject('/readyz')

      expect(lines).toEqual([])
    })
  })

  describe('responds to an unknown error', () => {
    const failures = [
      new TypeError("Cannot read properties of undefined (reading 'secret')"),
      Object.assign(new Error('secret row not found'), { statusCode: 404 }),
      Object.assign(new Error('secret'), { code: 'ECONNREFUSED', statusCode: 503 }),
      'secret',
      null,
    ]

    it.each(failures)('with INTERNAL and no details: %s', async (failure) => {
      const service = startApp()
      service.app.get('/failing', async () => {
        throw failure
      })
      const { code, status, message, info, headers } = await errorOf(service, '/failing')

      expect({ code, status, info }).toMatchObject({
        code: 500,
        status: 'INTERNAL',
        info: { reason: 'INTERNAL', metadata: {} },
      })
      expect(JSON.stringify([message, info, headers])).not.toContain('secret')
      expect(service.lines).toHaveLength(2)
      expect(service.lines[0]).toMatchObject({ level: 50, reason: 'INTERNAL' })
    })
  })
})
