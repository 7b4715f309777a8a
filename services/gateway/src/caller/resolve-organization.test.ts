import { identityHeader } from '@fms/contracts'
import { createIdentityVerifier } from '@fms/service-kit'
import { describe, expect, it } from 'vitest'
import { type GatewayTestOptions, json, reasonOf, secret, startGateway } from '../testing.ts'

const publicId = 'Ab3dE6gH9j'
const path = `/v2/organizations/-/forms/${publicId}`

/** A gateway whose forms service has one form, in the caller's organization. */
const start = async (options: GatewayTestOptions = {}) => {
  const gateway = await startGateway(options)
  const { organizationId } = gateway.organization
  gateway.forms.answer = ({ url }) => {
    const isLookup = url.startsWith('/internal/')
    if (!isLookup) return { from: 'forms' }
    return url.includes(publicId) ? { organizationId } : {}
  }
  const requests = () => gateway.forms.received.map(({ method, url }) => `${method} ${url}`)
  const lookup = `GET /internal/forms/${publicId}/owner`
  const real = `/organizations/${organizationId}/forms/${publicId}`
  return Object.assign(gateway, { requests, lookup, real })
}

describe('GET /organizations/-/forms/{publicId}', () => {
  it.each([
    ['GET', ''],
    ['HEAD', ''],
    ['GET', '/revisions/live'],
    ['HEAD', '/revisions/live'],
  ])('%s reads it where it is: %s', async (method, rest) => {
    await using gateway = await start()

    const { status, headers } = await gateway.send(method, `${path}${rest}`)

    expect(status).toBe(200)
    expect(headers).toMatchObject({ 'cache-control': 'private, no-cache', vary: 'x-api-key' })
    expect(gateway.requests()).toEqual([gateway.lookup, `${method} ${gateway.real}${rest}`])
  })

  it('looks up as the gateway, and reads as the member', async () => {
    await using gateway = await start()
    const verify = createIdentityVerifier([secret])

    await gateway.send('GET', path, { headers: { 'if-none-match': '"1-a"' } })

    const [lookup, read] = gateway.forms.received
    expect(verify(String(lookup!.headers[identityHeader]))).toMatchObject({ service: 'gateway' })
    expect(verify(String(read!.headers[identityHeader]))).toMatchObject({
      userId: gateway.directory.user(gateway.key).userId,
      organizationId: gateway.organization.organizationId,
      role: 'editor',
    })
    expect(lookup!.headers).not.toHaveProperty('if-none-match')
    expect(read!.headers).toMatchObject({ 'if-none-match': '"1-a"' })
  })

  it('gives one and the same 404 for the form of somebody else and for none at all', async () => {
    await using gateway = await start({ rateLimitPerMinute: 10 })
    const [as, other] = [gateway.stranger(), gateway.stranger()]
    const unknown = path.replace(publicId, 'Zz3dE6gH9j')

    const foreign = await gateway.send('GET', path, { as })
    const none = await gateway.send('GET', unknown, { as: other })

    expect([foreign.status, reasonOf(foreign)]).toEqual([404, 'FORM_NOT_FOUND'])
    expect(foreign.withoutRequestId()).toBe(none.withoutRequestId().replaceAll('Zz3dE6gH9j', publicId))
    const headersOf = ({ headers: { date, 'x-request-id': id, ...others } }: typeof none) => others
    expect(headersOf(foreign)).toEqual(headersOf(none))
    expect(gateway.requests()).not.toContain(`GET ${gateway.real}`)
  })

  it.each(['6f6d5aa1-4ec9-4ba1-8f1c-3b8f4a1f9b60', 'Ab3dE6gH9', 'Ab3dE6gH9jk', 'Ab3dE6g%2F9', '%zz', '..'])(
    'looks up nothing that is no public id: %s',
    async (ref) => {
      await using gateway = await start()

      const refused = await gateway.send('GET', path.replace(publicId, ref))

      expect([refused.status, reasonOf(refused)]).toEqual([404, 'FORM_NOT_FOUND'])
      expect(gateway.forms.received).toEqual([])
    },
  )

  it.each([
    ['GET', '/v2/organizations/-'],
    ['GET', '/v2/organizations/-/forms'],
    ['POST', '/v2/organizations/-/forms'],
    ['PATCH', path],
    ['DELETE', path],
    ['POST', `${path}/publish`],
    ['GET', `${path}/revisions`],
    ['GET', `${path}/revisions/6f6d5aa1-4ec9-4ba1-8f1c-3b8f4a1f9b60`],
    ['GET', '/v2/organizations/-x/forms/Ab3dE6gH9j'],
  ])('is all that - means: %s %s', async (method, elsewhere) => {
    await using gateway = await start()
    const body = method === 'GET' ? {} : { headers: json, body: '{"form":{}}' }

    const refused = await gateway.send(method, elsewhere, body)

    expect([refused.status, reasonOf(refused)]).toEqual([404, 'ORGANIZATION_NOT_FOUND'])
    expect(gateway.forms.received).toEqual([])
  })

  it('answers other methods as any form does', async () => {
    await using gateway = await start()

    const form = await gateway.send('PUT', path)
    const live = await gateway.send('POST', `${path}/revisions/live`)

    expect([form.status, String(form.headers.allow).split(', ').sort()]).toEqual([
      405,
      ['DELETE', 'GET', 'HEAD', 'PATCH'],
    ])
    expect([live.status, live.headers.allow]).toEqual([405, 'GET, HEAD'])
  })

  it('needs a key, and refuses a query before it looks anything up', async () => {
    await using gateway = await start()

    const nobody = await gateway.send('GET', path, { as: '' })
    const queried = await gateway.send('GET', `${path}?x=1`)

    expect([nobody.status, reasonOf(nobody)]).toEqual([401, 'API_KEY_INVALID'])
    expect([queried.status, reasonOf(queried)]).toEqual([400, 'INVALID_REQUEST'])
    expect(gateway.forms.received).toEqual([])
  })

  it('ends with a revoked key, and with the membership', async () => {
    await using gateway = await start()
    const moved = gateway.directory.key([{ ...gateway.organization }])
    expect((await gateway.send('GET', path, { as: moved })).status).toBe(200)
    gateway.directory.user(moved).members.length = 0
    gateway.directory.revoke(gateway.key)

    await expect.poll(async () => (await gateway.send('GET', path, { as: moved })).status).toBe(404)
    await expect.poll(async () => (await gateway.send('GET', path)).status).toBe(401)
  })

  it('counts once for the rate limit', async () => {
    await using gateway = await start({ rateLimitPerMinute: 10 })

    const { headers } = await gateway.send('GET', path)

    expect(headers['ratelimit-remaining']).toBe('9')
  })

  it('counts for its organization while it is in flight, and for nobody afterwards', async () => {
    await using gateway = await start({ maxRequests: 2 })
    const letGo = Promise.withResolvers<void>()
    const { answer } = gateway.forms
    gateway.forms.answer = async (request, reply) => {
      if (!request.url.startsWith('/internal/')) await letGo.promise
      return answer(request, reply)
    }
    const waiting = gateway.send('GET', path)
    await expect.poll(gateway.requests).toContain(`GET ${gateway.real}`)

    const refused = await gateway.send('GET', path)
    letGo.resolve()

    expect([refused.status, reasonOf(refused)]).toEqual([429, 'TOO_MANY_AT_ONCE'])
    expect((await waiting).status).toBe(200)
    expect((await gateway.send('GET', path)).status).toBe(200)
  })

  it('is a 503 while forms is away, or is of a release that cannot look up', async () => {
    await using gateway = await start()
    gateway.forms.answer = (_, reply) => reply.code(404).send({ error: {} })
    const older = await gateway.send('GET', path)
    await gateway.forms.stop()
    const away = await gateway.send('GET', path)

    expect([older.status, reasonOf(older)]).toEqual([503, 'UPSTREAM_UNAVAILABLE'])
    expect([away.status, reasonOf(away)]).toEqual([503, 'UPSTREAM_UNAVAILABLE'])
  })
})
