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
  gateway.forms.respond = ({ url }) => {
    const isLookup = url.startsWith('/internal/')
    if (!isLookup) return { from: 'forms' }
    return url.includes(publicId) ? { organizationId } : {}
  }
  const requests = () => gateway.forms.received.map(({ method, url }) => `${method} ${url}`)
  const lookup = `GET /internal/forms/${publicId}/organization`
  const real = `/organizations/${organizationId}/forms/${publicId}`
  return Object.assign(gateway, { requests, lookup, real })
}

describe('GET /organizations/-/forms/{publicId}', () => {
  it.each([
    ['GET', ''],
    ['HEAD', ''],
    ['GET', '/revisions/live'],
    ['HEAD', '/revisions/live'],
  ])('%s reads the form from its organization: %s', async (method, rest) => {
    await using gateway = await start()

    const { status, headers } = await gateway.send(method, `${path}${rest}`)

    expect(status).toBe(200)
    expect(headers).toMatchObject({ 'cache-control': 'private, no-cache', vary: 'x-api-key' })
    expect(gateway.requests()).toEqual([gateway.lookup, `${method} ${gateway.real}${rest}`])
  })

  it('looks the form up with the identity of the gateway, and reads it with that of the caller', async () => {
    await using gateway = await start()
    const verify = createIdentityVerifier([secret])

    await gateway.send('GET', path, { headers: { 'if-none-match': '"1-a"' } })

    const [lookup, read] = gateway.forms.received
    expect(verify(String(lookup!.headers[identityHeader]))).toMatchObject({ service: 'gateway' })
    expect(verify(String(read!.headers[identityHeader]))).toMatchObject({
      userId: gateway.directory.userOf(gateway.key).userId,
      organizationId: gateway.organization.organizationId,
      role: 'editor',
    })
    expect(lookup!.headers).not.toHaveProperty('if-none-match')
    expect(read!.headers).toMatchObject({ 'if-none-match': '"1-a"' })
  })

  it('gives the same 404 for a form of another organization and for one that does not exist', async () => {
    await using gateway = await start({ rateLimitPerMinute: 10 })
    const [as, other] = [gateway.createStrangerKey(), gateway.createStrangerKey()]
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
    'looks up only public ids: %s',
    async (ref) => {
      await using gateway = await start()

      const rejected = await gateway.send('GET', path.replace(publicId, ref))

      expect([rejected.status, reasonOf(rejected)]).toEqual([404, 'FORM_NOT_FOUND'])
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
  ])('elsewhere, - is an organization that does not exist: %s %s', async (method, elsewhere) => {
    await using gateway = await start()
    const body = method === 'GET' ? {} : { headers: json, body: '{"form":{}}' }

    const rejected = await gateway.send(method, elsewhere, body)

    expect([rejected.status, reasonOf(rejected)]).toEqual([404, 'ORGANIZATION_NOT_FOUND'])
    expect(gateway.forms.received).toEqual([])
  })

  it('has the Allow header of any form for other methods', async () => {
    await using gateway = await start()

    const form = await gateway.send('PUT', path)
    const live = await gateway.send('POST', `${path}/revisions/live`)

    expect([form.status, String(form.headers.allow).split(', ').sort()]).toEqual([
      405,
      ['DELETE', 'GET', 'HEAD', 'PATCH'],
    ])
    expect([live.status, live.headers.allow]).toEqual([405, 'GET, HEAD'])
  })

  it('requires a key, and rejects a query before any look-up', async () => {
    await using gateway = await start()

    const anonymous = await gateway.send('GET', path, { as: '' })
    const queried = await gateway.send('GET', `${path}?x=1`)

    expect([anonymous.status, reasonOf(anonymous)]).toEqual([401, 'API_KEY_INVALID'])
    expect([queried.status, reasonOf(queried)]).toEqual([400, 'INVALID_REQUEST'])
    expect(gateway.forms.received).toEqual([])
  })

  it.each([
    ['', 'name,theme.primaryColor', 200],
    ['', 'form.name', 400],
    ['/revisions/live', 'form.name,path', 200],
    ['/revisions/live', 'name', 400],
  ])(
    '%s forwards a valid readMask, and rejects others before any look-up: %s',
    async (rest, mask, status) => {
      await using gateway = await start()

      const response = await gateway.send('GET', `${path}${rest}?readMask=${mask}`)

      expect(response.status).toBe(status)
      expect(gateway.requests()).toEqual(
        status === 200 ? [gateway.lookup, `GET ${gateway.real}${rest}?readMask=${mask}`] : [],
      )
    },
  )

  it('is not available to a revoked key or after the membership has ended', async () => {
    await using gateway = await start()
    const former = gateway.directory.createKey([{ ...gateway.organization }])
    expect((await gateway.send('GET', path, { as: former })).status).toBe(200)
    gateway.directory.userOf(former).memberships.length = 0
    gateway.directory.revoke(gateway.key)

    await expect.poll(async () => (await gateway.send('GET', path, { as: former })).status).toBe(404)
    await expect.poll(async () => (await gateway.send('GET', path)).status).toBe(401)
  })

  it('counts once for the rate limit', async () => {
    await using gateway = await start({ rateLimitPerMinute: 10 })

    const { headers } = await gateway.send('GET', path)

    expect(headers['ratelimit-remaining']).toBe('9')
  })

  it('counts for its organization only while it is in flight', async () => {
    await using gateway = await start({ maxRequestsPerOrganization: 1 })
    const blocked = Promise.withResolvers<void>()
    const { respond } = gateway.forms
    gateway.forms.respond = async (request, reply) => {
      if (!request.url.startsWith('/internal/')) await blocked.promise
      return respond(request, reply)
    }
    const waiting = gateway.send('GET', path)
    await expect.poll(gateway.requests).toContain(`GET ${gateway.real}`)

    const sentAt = performance.now()
    const rejected = await gateway.send('GET', path)
    blocked.resolve()

    expect(performance.now() - sentAt).toBeGreaterThan(450)
    expect([rejected.status, reasonOf(rejected)]).toEqual([429, 'TOO_MANY_AT_ONCE'])
    expect((await waiting).status).toBe(200)
    expect((await gateway.send('GET', path)).status).toBe(200)
  })

  it('is a 503 while forms is unavailable, or is of a release without the look-up', async () => {
    await using gateway = await start()
    gateway.forms.respond = (_, reply) => reply.code(404).send({ error: {} })
    const older = await gateway.send('GET', path)
    await gateway.forms.stop()
    const stopped = await gateway.send('GET', path)

    expect([older.status, reasonOf(older)]).toEqual([503, 'UPSTREAM_UNAVAILABLE'])
    expect([stopped.status, reasonOf(stopped)]).toEqual([503, 'UPSTREAM_UNAVAILABLE'])
  })
})
