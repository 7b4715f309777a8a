import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { identityHeader, type Role } from '@fms/contracts'
import { createIdentityVerifier } from '@fms/service-kit'
import { describe, expect, it } from 'vitest'
import { type Gateway, json, reasonOf, startGateway } from '../testing.ts'
import { reauthorize } from './authenticate.ts'

const unknownKey = `fms_${'A'.repeat(43)}`

describe('an organization reference that is cut in the middle of a character', () => {
  it('is looked up as text that JSON can have, and found nowhere', async () => {
    await using gateway = await startGateway()
    const ref = `${'a'.repeat(99)}😀`

    const { status } = await gateway.send('GET', `/v2/organizations/${encodeURIComponent(ref)}`)

    expect(status).toBe(404)
    expect(gateway.directory.authorizeRequests.map(({ organizationRef }) => organizationRef)).toEqual([
      `${'a'.repeat(99)}\ufffd`,
    ])
  })
})

describe('x-api-key', () => {
  it('gets the same 401 when it is missing, malformed, sent twice, unknown or revoked', async () => {
    await using gateway = await startGateway()
    const revoked = gateway.directory.createKey([gateway.organization])
    gateway.directory.revoke(revoked)

    const responses = await Promise.all([
      gateway.send('GET', '/v2/organizations', { as: '' }),
      gateway.send('GET', '/v2/organizations', { as: 'fms_short' }),
      gateway.send('GET', '/v2/organizations', {
        as: '',
        headers: { 'x-api-key': [gateway.key, gateway.key] },
      }),
      gateway.send('GET', '/v2/organizations', { as: unknownKey }),
      gateway.send('GET', '/v2/organizations', { as: revoked }),
    ])

    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([401]))
    expect(new Set(responses.map((response) => response.withoutRequestId())).size).toBe(1)
    expect(new Set(responses.map(({ headers }) => headers['www-authenticate']))).toEqual(
      new Set(['ApiKey realm="forms"']),
    )
    expect(responses[0]!.json().error).toMatchObject({ code: 401, status: 'UNAUTHENTICATED' })
    expect(reasonOf(responses[0]!)).toBe('API_KEY_INVALID')
  })

  it('is not a bearer token, which the 401 says', async () => {
    await using gateway = await startGateway()

    const { text } = await gateway.send('GET', '/v2/organizations', {
      as: '',
      headers: { authorization: `Bearer ${gateway.key}` },
    })

    expect(text).toContain('in the header x-api-key, not in Authorization: Bearer;')
  })

  it('is not looked up when it is malformed', async () => {
    await using gateway = await startGateway()

    await gateway.send('GET', '/v2/organizations', { as: `${unknownKey}A` })

    expect(gateway.directory.authorizeRequests).toEqual([])
  })

  it('becomes an identity token for the service, which replaces a forged one', async () => {
    await using gateway = await startGateway()

    await gateway.send('GET', '/v2/organizations/acme/forms', { headers: { [identityHeader]: 'forged' } })

    const [request] = gateway.forms.received
    expect(request!.headers['x-api-key']).toBeUndefined()
    const verify = createIdentityVerifier(['a secret of at least thirty-two bytes'])
    expect(verify(String(request!.headers[identityHeader]))).toMatchObject({
      userId: gateway.directory.userOf(gateway.key).userId,
      organizationId: gateway.organization.organizationId,
      role: 'editor',
      readOnly: false,
      key: gateway.directory.actorKeyOf(gateway.key),
    })
  })

  it('is served from the cache for 30 seconds while organizations is unavailable, then it is a 503', async () => {
    const clock = { now: Date.now() }
    await using gateway = await startGateway({ now: () => clock.now })
    const other = gateway.directory.createKey([gateway.organization])
    expect((await gateway.send('GET', '/v2/organizations')).status).toBe(200)

    await gateway.organizations.stop()
    clock.now += 20_000
    expect(reasonOf(await gateway.send('GET', '/v2/organizations'))).toBe('UPSTREAM_UNAVAILABLE')
    expect((await gateway.send('GET', '/v2/nowhere')).status).toBe(404)
    const unseen = await gateway.send('GET', '/v2/organizations', { as: other })
    expect([unseen.status, reasonOf(unseen)]).toEqual([503, 'AUTHENTICATION_UNAVAILABLE'])
    expect(unseen.headers['retry-after']).toBe('1')

    clock.now += 20_000
    expect(reasonOf(await gateway.send('GET', '/v2/nowhere'))).toBe('AUTHENTICATION_UNAVAILABLE')
  })

  it('gets a 503 when a proxy responds for organizations without end, and ends the response', async () => {
    await using gateway = await startGateway()
    const ended = Promise.withResolvers<void>()
    gateway.organizations.respond = (_, reply) => {
      const { raw } = reply.hijack()
      raw.once('close', ended.resolve)
      raw.writeHead(502).write('<html>')
    }

    expect(reasonOf(await gateway.send('GET', '/v2/organizations'))).toBe('AUTHENTICATION_UNAVAILABLE')
    await ended.promise
  })

  it('gets a 503, not a 401, when organizations rejects the token of the gateway', async () => {
    await using gateway = await startGateway()
    gateway.organizations.respond = (_, reply) =>
      reply.code(401).header('www-authenticate', 'FmsIdentity').send({})

    const response = await gateway.send('GET', '/v2/organizations')

    expect([response.status, reasonOf(response)]).toEqual([503, 'AUTHENTICATION_UNAVAILABLE'])
  })
})

describe('the order of checks', () => {
  const long = { headers: { 'content-type': 'text/plain' }, body: Buffer.alloc(2 * 1024 * 1024) }

  it('is 401, 404 path, 405, 404 organization, 403, 413, 415, then the service', async () => {
    await using gateway = await startGateway()
    const viewer = gateway.directory.createKey([{ ...gateway.organization, role: 'viewer' }])
    const forms = `/v2/organizations/acme/forms`

    expect((await gateway.send('PUT', '/v2/nowhere', { ...long, as: '' })).status).toBe(401)
    expect((await gateway.send('PUT', '/v2/nowhere', { ...long, as: viewer })).status).toBe(404)
    expect((await gateway.send('PUT', '/v2/organizations/none', { ...long, as: viewer })).status).toBe(405)
    expect((await gateway.send('POST', '/v2/organizations/none/forms', { ...long, as: viewer })).status).toBe(
      404,
    )
    expect((await gateway.send('POST', forms, { ...long, as: viewer })).status).toBe(403)
    expect((await gateway.send('POST', forms, long)).status).toBe(413)
    expect((await gateway.send('POST', forms, { ...long, body: 'short' })).status).toBe(415)
    expect(gateway.forms.received).toEqual([])
  })

  it('gives the same 404 for an organization of others and for one that does not exist', async () => {
    await using gateway = await startGateway()
    const foreign = { organizationId: randomUUID(), slug: 'foreign', role: 'owner' as const }
    gateway.directory.createKey([foreign])

    const responses = await Promise.all(
      ['foreign', 'missing'].map((slug) => gateway.send('GET', `/v2/organizations/${slug}/forms`)),
    )

    expect(responses.map((response) => [response.status, reasonOf(response)])).toEqual([
      [404, 'ORGANIZATION_NOT_FOUND'],
      [404, 'ORGANIZATION_NOT_FOUND'],
    ])
    const [a, b] = responses.map((response) => response.withoutRequestId())
    expect(a!.replaceAll('foreign', 'missing')).toBe(b)
  })

  it('forwards checks of viewers and of read-only keys', async () => {
    await using gateway = await startGateway()
    const viewer = gateway.directory.createKey([{ ...gateway.organization, role: 'viewer' }])
    const reader = gateway.directory.createKey([gateway.organization], { readOnly: true })

    for (const as of [viewer, reader]) {
      const options = { as, headers: { 'content-type': 'application/json' }, body: '{"form":{}}' }
      expect((await gateway.send('POST', '/v2/organizations/acme/forms/check', options)).status).toBe(200)
    }
    expect(gateway.forms.received).toHaveLength(2)
  })

  it('rejects writes of viewers and of read-only keys', async () => {
    await using gateway = await startGateway()
    const form = `/v2/organizations/acme/forms/${randomUUID()}`
    const viewer = gateway.directory.createKey([{ ...gateway.organization, role: 'viewer' }])
    const reader = gateway.directory.createKey([gateway.organization], { readOnly: true })

    for (const as of [viewer, reader]) {
      expect((await gateway.send('GET', form, { as })).status).toBe(200)
      expect((await gateway.send('PATCH', form, { as, headers: json, body: '{}' })).status).toBe(403)
      expect((await gateway.send('DELETE', form, { as })).status).toBe(403)
      const publish = await gateway.send('POST', `${form}/publish`, { as })
      expect([publish.status, reasonOf(publish)]).toEqual([403, 'WRITE_FORBIDDEN'])
    }
    expect(gateway.forms.received).toHaveLength(2)
  })

  it('lets only owners purge a deleted form, which is checked before the body', async () => {
    await using gateway = await startGateway()
    const deletedForm = `/v2/organizations/acme/deletedForms/${randomUUID()}`
    const keyOf = (role: Role, options = {}) =>
      gateway.directory.createKey([{ ...gateway.organization, role }], options)
    const statusOf = async (as: string) => {
      const response = await gateway.send('DELETE', deletedForm, { ...long, as })
      return [response.status, reasonOf(response)]
    }

    expect(await statusOf(keyOf('viewer'))).toEqual([403, 'WRITE_FORBIDDEN'])
    expect(await statusOf(keyOf('owner', { readOnly: true }))).toEqual([403, 'WRITE_FORBIDDEN'])
    expect(await statusOf(keyOf('editor'))).toEqual([403, 'OWNER_REQUIRED'])
    expect(await statusOf(keyOf('owner'))).toEqual([413, 'BODY_TOO_LARGE'])
    expect((await gateway.send('DELETE', deletedForm, { as: keyOf('owner') })).status).toBe(200)
    expect((await gateway.send('POST', `${deletedForm}/undelete`)).status).toBe(200)
    expect(gateway.forms.received).toHaveLength(2)
  })
})

describe('a request with a late body', () => {
  const form = `/v2/organizations/acme/forms/Ab3dE6gH9j`

  /** Sends the head and five bytes, calls `meanwhile`, and sends the rest after more than a second. */
  const sendLate = (gateway: Gateway, as: string, method: string, path: string, meanwhile: () => void) =>
    gateway.send(method, path, {
      as,
      headers: json,
      body: Readable.from(
        (async function* () {
          const { authorizeRequests } = gateway.directory
          const before = authorizeRequests.length
          yield '{    '
          // Waits until the head is authorized; the key is not in the cache yet.
          await expect.poll(() => authorizeRequests.length).toBe(before + 1)
          meanwhile()
          await delay(1_200)
          yield '}'
        })(),
      ),
    })

  it.each([
    ['POST', '/v2/organizations/acme/forms'],
    ['PATCH', form],
    ['DELETE', form],
    ['POST', `${form}/publish`],
  ])('is a 401 when its key was revoked meanwhile: %s %s', async (method, path) => {
    await using gateway = await startGateway()

    const response = await sendLate(gateway, gateway.key, method, path, () =>
      gateway.directory.revoke(gateway.key),
    )

    expect([response.status, reasonOf(response)]).toEqual([401, 'API_KEY_INVALID'])
    expect(gateway.forms.received).toEqual([])
  })

  it('is rejected when its caller may no longer write, or is no longer a member', async () => {
    await using gateway = await startGateway()
    const keys = [1, 2].map(() => gateway.directory.createKey([gateway.organization])) as [string, string]
    const [first, second] = keys.map((key) => gateway.directory.userOf(key).memberships)

    const lowered = await sendLate(gateway, keys[0], 'PATCH', form, () => {
      first![0] = { ...gateway.organization, role: 'viewer' }
    })
    const removed = await sendLate(gateway, keys[1], 'PATCH', form, () => {
      second!.length = 0
    })

    expect([lowered, removed].map((response) => [response.status, reasonOf(response)])).toEqual([
      [403, 'WRITE_FORBIDDEN'],
      [404, 'ORGANIZATION_NOT_FOUND'],
    ])
    expect(gateway.forms.received).toEqual([])
  })

  it('is forwarded while organizations is out of reach, by slug as by id', async () => {
    await using gateway = await startGateway()

    const response = await sendLate(gateway, gateway.key, 'PATCH', form, () => gateway.organizations.stop())

    expect(response.status).toBe(200)
    expect(gateway.forms.received).toHaveLength(1)
  })

  it('is a 404 of the form when its path names no organization and its caller has left it', async () => {
    const headers = { 'x-api-key': `fms_${'a'.repeat(43)}` }
    const params = { formRef: 'Ab3dE6gH9j' }
    const request = { headers, params, identity: { organizationId: 'left' } } as never
    const authorize = async () => ({
      keyId: '',
      identity: { userId: '', readOnly: false, key: { id: '', prefix: '' } },
      token: () => '',
    })

    await expect(reauthorize(request, authorize)).rejects.toMatchObject({ reason: 'FORM_NOT_FOUND' })
  })

  it('is forwarded when nothing has changed, and counts once for the rate limit', async () => {
    await using gateway = await startGateway({ rateLimitPerMinute: 10 })

    const response = await sendLate(gateway, gateway.key, 'PATCH', form, () => {})

    expect([response.status, response.headers['ratelimit-remaining']]).toEqual([200, '9'])
    expect(gateway.directory.authorizeRequests).toHaveLength(2)
    expect(gateway.forms.received).toMatchObject([{ method: 'PATCH', body: '{    }' }])
  })
})
