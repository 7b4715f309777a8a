import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { formctl } from './run-formctl.ts'
import { sharedSystem } from './shared-system.ts'
import type { ApiResponse } from './system.ts'

const system = await sharedSystem()

const withKey = (apiKey: string) => ({
  apiKey,
  call: (method: string, path: string, body?: unknown) => system.call({ apiKey }, method, path, body),
})

const reasonOf = ({ body }: ApiResponse) => body.error.details[0].reason

/** Waits until a key gets 401. @throws {Error} if it works for more than a second after `endedAt`. */
const untilRejected = async (apiKey: string, endedAt: number) => {
  for (;;) {
    const requestedAt = performance.now()
    if ((await withKey(apiKey).call('GET', '/whoami')).status === 401) return
    expect(requestedAt - endedAt).toBeLessThan(1_000)
    await delay(20)
  }
}

describe('the keys of a user', () => {
  it('are created, listed, rotated and revoked with the API', async () => {
    const account = await system.account()
    const first = withKey(account.apiKey)

    const created = await first.call('POST', '/keys', { key: { name: 'CI' } })
    expect([created.status, created.headers.get('cache-control')]).toEqual([200, 'no-store'])
    const second = withKey(created.body.secret)
    const whoami = await second.call('GET', '/whoami')
    expect(whoami.body).toMatchObject({
      user: { path: `users/${account.userId}` },
      key: { path: created.body.key.path, name: 'CI', current: true },
      memberships: [{ organization: { path: `organizations/${account.organizationId}` }, role: 'editor' }],
    })
    expect((await second.call('POST', account.forms, { form: {} })).status).toBe(200)

    const rotated = await second.call('POST', `/${created.body.key.path}/rotate`)
    const rotatedAt = performance.now()
    expect(rotated.headers.get('cache-control')).toBe('no-store')
    await untilRejected(second.apiKey, rotatedAt)
    const third = withKey(rotated.body.secret)

    const { body: list } = await third.call('GET', '/keys')
    expect(list.keys.map(({ name }: { name: string }) => name)).toEqual(['CI', 'Test'])
    expect(list.totalSize).toBe(2)
    expect(JSON.stringify(list)).not.toContain('fms_')

    const deleted = await first.call('DELETE', `/${rotated.body.key.path}`)
    const deletedAt = performance.now()
    expect([deleted.status, deleted.body]).toEqual([200, {}])
    await untilRejected(third.apiKey, deletedAt)
    expect(reasonOf(await first.call('DELETE', `/${rotated.body.key.path}`))).toBe('KEY_NOT_FOUND')
  })

  it('are only those of the user', async () => {
    const [ada, bob] = [await system.account(), await system.account()]
    const { path } = (await withKey(bob.apiKey).call('GET', '/whoami')).body.key

    for (const [method, end] of [
      ['DELETE', ''],
      ['POST', '/rotate'],
    ] as const) {
      const response = await withKey(ada.apiKey).call(method, `/${path}${end}`)
      expect([response.status, reasonOf(response)]).toEqual([404, 'KEY_NOT_FOUND'])
    }
    expect((await withKey(bob.apiKey).call('GET', '/whoami')).status).toBe(200)
  })

  it('give no read-only key more than it has', async () => {
    const account = await system.account({ readOnly: true })
    const reader = withKey(account.apiKey)
    const { path } = (await reader.call('GET', '/whoami')).body.key

    const create = await reader.call('POST', '/keys', { key: { name: 'CI', readOnly: true } })
    const malformed = await reader.call('POST', '/keys', { nonsense: true })
    const overlapping = await reader.call('POST', `/${path}/rotate`, { overlapSeconds: 60 })
    const rotated = await reader.call('POST', `/${path}/rotate`)

    expect([create, malformed, overlapping].map(reasonOf)).toEqual(Array(3).fill('WRITE_FORBIDDEN'))
    const write = await withKey(rotated.body.secret).call('POST', account.forms, { form: {} })
    expect([write.status, reasonOf(write)]).toEqual([403, 'WRITE_FORBIDDEN'])
  })

  it('are at most 100, however many creates there are at once', async () => {
    const { call } = withKey((await system.account()).apiKey)
    const create = () => call('POST', '/keys', { key: { name: 'many' } })

    const responses = await Promise.all(Array.from({ length: 105 }, create))

    const refused = responses.filter(({ status }) => status !== 200)
    expect(refused.map(reasonOf)).toEqual(Array(6).fill('TOO_MANY_KEYS'))
    expect((await call('GET', '/keys')).body.totalSize).toBe(100)
  })
})

describe('a login link', () => {
  it('signs in once with a key that expires, and signing out revokes it', async () => {
    const { userId } = await system.account()
    const directory = { DIRECTORY_STORE_URL: system.directoryStoreUrl }
    const link = ['user', 'login-link', '--user', userId, '--url', system.baseUrl]
    const { url } = await formctl(directory, ...link)
    const [page, code] = url.split('#code=')
    expect(page).toBe(`${system.baseUrl}/console`)
    const anonymous = withKey('')

    const session = await anonymous.call('POST', '/sessions', { code })
    const again = await anonymous.call('POST', '/sessions', { code })

    expect([session.status, session.headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(session.body.key).toMatchObject({ name: 'Console', readOnly: false, lastUsedTime: '' })
    const expiresInMs = Date.parse(session.body.key.expireTime) - Date.now()
    expect(Math.abs(expiresInMs - 12 * 3_600_000)).toBeLessThan(60_000)
    expect([again.status, reasonOf(again)]).toEqual([401, 'LOGIN_CODE_INVALID'])
    const { call, apiKey } = withKey(session.body.secret)
    const lasting = await call('POST', '/keys', { key: { name: 'CI' } })
    expect([lasting.status, reasonOf(lasting)]).toEqual([400, 'KEY_OUTLIVES_CALLER'])

    await call('DELETE', `/${session.body.key.path}`)
    await untilRejected(apiKey, performance.now())
  })

  it('is for one of many that use it at once', async () => {
    const { userId } = await system.account()
    const directory = { DIRECTORY_STORE_URL: system.directoryStoreUrl }
    const { code } = await formctl(directory, 'user', 'login-link', '--user', userId)
    const anonymous = withKey('')

    const responses = await Promise.all(
      Array.from({ length: 20 }, () => anonymous.call('POST', '/sessions', { code })),
    )

    expect(responses.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(401)])
  })
})

describe('formctl with FORMS_API_URL', () => {
  it('manages the keys of the user of FORMS_API_KEY', async () => {
    const account = await system.account()
    const env = {
      FORMS_API_URL: system.baseUrl,
      FORMS_API_KEY: account.apiKey,
      DIRECTORY_STORE_URL: 'sqlite:/nonexistent',
    }

    const created = await formctl(env, 'key', 'create', '--name', 'CI')
    await formctl(env, 'key', 'revoke', created.id)

    await untilRejected(created.key, performance.now())
  })
})
