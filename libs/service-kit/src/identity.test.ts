import { createHmac } from 'node:crypto'
import { type Identity, identityHeader } from '@fms/contracts'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createApp } from './http/create-app.ts'
import {
  createIdentitySigner,
  createIdentityVerifier,
  requireGateway,
  requireIdentity,
  requireWriteAccess,
} from './identity.ts'

const secret = 'the current secret of the services'
const next = 'the next secret of the services'

const ada: Identity = {
  userId: '11111111-1111-4111-8111-111111111111',
  organizationId: '22222222-2222-4222-8222-222222222222',
  role: 'editor',
  readOnly: false,
  key: { id: '33333333-3333-4333-8333-333333333333', prefix: 'abcd1234' },
}

const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

describe('an identity token', () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: Date.parse('2026-11-20T09:30:00.000Z'), toFake: ['Date'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('contains the identity of the caller', () => {
    const verify = createIdentityVerifier([secret])

    expect(verify(createIdentitySigner(secret)(ada))).toMatchObject(ada)
    expect(verify(createIdentitySigner(secret)({ service: 'gateway' }))).toMatchObject({ service: 'gateway' })
  })

  it('is valid for a minute, even when it is cached', () => {
    const token = createIdentitySigner(secret)(ada)
    const verify = createIdentityVerifier([secret])

    vi.setSystemTime(Date.parse('2026-11-20T09:30:59.000Z'))
    expect(verify(token)).toMatchObject(ada)
    vi.setSystemTime(Date.parse('2026-11-20T09:31:00.001Z'))
    expect(verify(token)).toBeUndefined()
    expect(createIdentityVerifier([secret])(token)).toBeUndefined()
  })

  it('is valid under each secret of a rotation, and under no other', () => {
    const [current, following] = [secret, next].map((each) => createIdentitySigner(each)(ada)) as [
      string,
      string,
    ]

    for (const rotating of [createIdentityVerifier([secret, next]), createIdentityVerifier([next, secret])]) {
      expect(rotating(current)).toMatchObject(ada)
      expect(rotating(following)).toMatchObject(ada)
    }
    expect(createIdentityVerifier([next])(current)).toBeUndefined()
    expect(createIdentityVerifier([])(current)).toBeUndefined()
  })

  it('cannot be modified, or created without the secret', () => {
    const verify = createIdentityVerifier([secret])
    const [head, , signature] = createIdentitySigner(secret)(ada).split('.')
    const owner = base64url({ ...ada, role: 'owner', iat: 1_795_167_000, exp: 1_795_167_060 })
    const unsigned = base64url({ alg: 'none', typ: 'JWT' })
    const other = `${base64url({ alg: 'HS512', typ: 'JWT' })}.${owner}`
    const forgeries = [
      '',
      'token',
      '..',
      `${head}.${owner}.${signature}`,
      `${head}.${owner}.`,
      `${unsigned}.${owner}.`,
      `${other}.${createHmac('sha512', secret).update(other).digest('base64url')}`,
    ]

    for (const forgery of forgeries) expect(verify(forgery)).toBeUndefined()
  })
})

const startApp = () => {
  const app = createApp({ logger: pino({ level: 'silent' }) })
  app.register(async (forUsers) => {
    requireIdentity(forUsers, [secret])
    forUsers.get('/users', async ({ identity }) => identity)
  })
  app.register(async (forTheGateway) => {
    requireGateway(forTheGateway, [secret])
    forTheGateway.get('/gateway', async () => ({}))
  })
  return app
}

const get = async (url: string, token?: string) => {
  const response = await startApp().inject({
    url,
    headers: token === undefined ? {} : { [identityHeader]: token },
  })
  return { code: response.statusCode, body: response.json(), headers: response.headers }
}

const sign = createIdentitySigner(secret)

describe('requireIdentity', () => {
  it('accepts users and sets request.identity', async () => {
    expect(await get('/users', sign(ada))).toMatchObject({ code: 200, body: ada })
  })

  it.each([
    ['no token', undefined],
    ['an invalid token', 'nonsense'],
    ['a token with another secret', createIdentitySigner(next)(ada)],
    ['a token of the gateway itself', sign({ service: 'gateway' })],
    ['an invalid user id', sign({ ...ada, userId: 'ada' })],
    ['an unknown role', sign({ ...ada, role: 'admin' as 'owner' })],
  ])('rejects %s', async (_, token) => {
    expect(await get('/users', token)).toMatchObject({
      code: 401,
      body: { error: { status: 'UNAUTHENTICATED', details: [{ reason: 'IDENTITY_REQUIRED' }, {}] } },
      headers: { 'www-authenticate': 'FmsIdentity' },
    })
  })

  it('does not apply outside of its scope', async () => {
    expect((await startApp().inject('/healthz')).statusCode).toBe(200)
  })
})

describe('requireGateway', () => {
  it('accepts the gateway', async () => {
    expect(await get('/gateway', sign({ service: 'gateway' }))).toMatchObject({ code: 200 })
  })

  it.each([
    ['no token', undefined],
    ['a token of a user', sign({ ...ada, role: 'owner' })],
    ['a token with another secret', createIdentitySigner(next)({ service: 'gateway' })],
  ])('rejects %s', async (_, token) => {
    expect(await get('/gateway', token)).toMatchObject({ code: 401 })
  })
})

describe('requireWriteAccess', () => {
  it.each([
    { role: 'editor', readOnly: false },
    { role: 'owner', readOnly: false },
  ] as const)('permits %j to write', (identity) => {
    requireWriteAccess(identity)
  })

  it.each([
    [{ role: 'viewer', readOnly: false }, 'role'],
    [{ role: 'owner', readOnly: true }, 'key'],
    [{ role: 'viewer', readOnly: true }, 'key'],
  ] as const)('rejects %j because of the %s', (identity, because) => {
    expect(() => requireWriteAccess(identity)).toThrow(
      expect.objectContaining({
        status: 'PERMISSION_DENIED',
        reason: 'WRITE_FORBIDDEN',
        parts: { metadata: { because } },
      }),
    )
  })
})
