import { identityHeader } from '@fms/contracts'
import { createIdentityVerifier } from '@fms/service-kit'
import { describe, expect, it } from 'vitest'
import { type Gateway, json, reasonOf, secret, startGateway } from '../testing.ts'

const signIn = (gateway: Gateway, body: object = { code: 'x' }, headers: Record<string, string> = json) =>
  gateway.send('POST', '/v2/sessions', { as: '', headers, body: JSON.stringify(body) })

const issued = { key: { path: 'keys/1' }, secret: 'fms_secret' }

describe('POST /v2/sessions', () => {
  it('sends the code to organizations without a key, and returns the response', async () => {
    await using gateway = await startGateway()
    gateway.organizations.respond = () => issued

    const response = await signIn(gateway, { code: 'the code' }, { ...json, 'x-request-id': 'mine' })

    expect([response.status, response.json()]).toEqual([200, issued])
    expect(response.headers).toMatchObject({ 'cache-control': 'no-store', 'x-request-id': 'mine' })
    const [request, ...more] = gateway.organizations.received
    expect(more).toEqual([])
    expect(request).toMatchObject({
      method: 'POST',
      url: '/internal/sessions',
      headers: { 'x-request-id': 'mine' },
      body: JSON.stringify({ code: 'the code', validateOnly: false }),
    })
    const token = String(request!.headers[identityHeader])
    expect(createIdentityVerifier([secret])(token)).toMatchObject({ service: 'gateway' })
  })

  it('returns the error of a wrong code unchanged', async () => {
    await using gateway = await startGateway()
    const error = { error: { details: [{ reason: 'LOGIN_CODE_INVALID' }] } }
    gateway.organizations.respond = (_, reply) =>
      reply.code(401).header('www-authenticate', 'ApiKey realm="forms"').send(error)

    const response = await signIn(gateway)

    expect([response.status, response.json()]).toEqual([401, error])
    expect(response.headers).toMatchObject({
      'www-authenticate': 'ApiKey realm="forms"',
      'cache-control': 'no-store',
    })
  })

  it.each([
    [{ code: 1 }, json, 400, 'INVALID_REQUEST'],
    [{}, json, 400, 'INVALID_REQUEST'],
    [{ code: 'x', key: 'y' }, json, 400, 'INVALID_REQUEST'],
    [{ code: 'x'.repeat(17_000) }, json, 413, 'BODY_TOO_LARGE'],
    [{ code: 'x' }, { 'content-type': 'text/plain' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ])('rejects %j with the headers %j', async (body, headers, status, reason) => {
    await using gateway = await startGateway()

    const response = await signIn(gateway, body, headers)

    expect([response.status, reasonOf(response)]).toEqual([status, reason])
    expect(gateway.organizations.received).toEqual([])
  })

  it('is a 503 while organizations does not respond', async () => {
    await using gateway = await startGateway()
    await gateway.organizations.stop()

    const response = await signIn(gateway)

    expect([response.status, reasonOf(response)]).toEqual([503, 'UPSTREAM_UNAVAILABLE'])
  })

  it('looks up four codes at once, and delays no caller with a key', async () => {
    await using gateway = await startGateway()
    const released = Promise.withResolvers<void>()
    let inFlight = 0
    gateway.organizations.respond = async (request, reply) => {
      if (request.url !== '/internal/sessions') return gateway.directory.respond(request, reply)
      inFlight++
      await released.promise
      return issued
    }
    const waiting = async () => {
      const { text } = await gateway.send('GET', '/metrics', { as: '' })
      return text.includes('admission_requests{service="sessions",cost="ordinary",state="waiting"} 1\n')
    }

    const responses = Promise.all([1, 2, 3, 4, 5].map(() => signIn(gateway)))
    await expect.poll(waiting).toBe(true)

    expect((await gateway.send('GET', '/v2/organizations')).status).toBe(200)
    expect(inFlight).toBe(4)
    released.resolve()
    expect((await responses).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
  })

  it('counts the sign-ins of an address, apart from its reads of public forms', async () => {
    await using gateway = await startGateway()

    const signIns = [await signIn(gateway), await signIn(gateway)]
    const read = await gateway.send('GET', '/f/Ab3dE6gH9j.json', { as: '' })

    const left = [...signIns, read].map(({ headers }) => headers['ratelimit-remaining'])
    expect(left).toEqual(['1199', '1198', '1199'])
  })

  it('needs a key for other methods and paths', async () => {
    await using gateway = await startGateway()

    expect((await gateway.send('GET', '/v2/sessions', { as: '' })).status).toBe(401)
    expect((await gateway.send('GET', '/v2/sessions')).headers.allow).toBe('POST')
    expect((await gateway.send('POST', '/v2/sessions/x', { as: '', headers: json, body: '{}' })).status).toBe(
      401,
    )
  })
})
