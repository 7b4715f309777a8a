import { setTimeout as delay } from 'node:timers/promises'
import { openDirectoryStore } from '@fms/directory-store'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { formctl as formctlWith } from '../run-formctl.ts'
import { type System, startSystem } from '../system.ts'

let system: System

beforeAll(async () => {
  system = await startSystem()
})
afterAll(() => system[Symbol.asyncDispose]())

const formctl = (...args: string[]) => formctlWith({ DIRECTORY_STORE_URL: system.directoryStoreUrl }, ...args)

describe('a key that formctl created', () => {
  it('works immediately, and stops within a second of its revocation', async () => {
    const user = await formctl('user', 'create', '--email', 'ada@example.com')
    const organization = await formctl('organization', 'create', '--name', 'Engines', '--slug', 'engines')
    await formctl(
      'member',
      'add',
      '--organization',
      'engines',
      '--user',
      'ada@example.com',
      '--role',
      'owner',
    )
    const { id, key } = await formctl('key', 'create', '--user', user.id)
    const account = { apiKey: key }

    const list = await system.call(account, 'GET', '/organizations')
    expect(list.body.organizations[0].path).toBe(`organizations/${organization.id}`)

    await formctl('key', 'revoke', id)
    const revokedAt = performance.now()
    for (;;) {
      const requestedAt = performance.now()
      const { status } = await system.call(account, 'GET', '/organizations')
      if (status === 401) break
      expect(requestedAt - revokedAt).toBeLessThan(1_000)
      await delay(20)
    }
  })

  it('stops within a second when its user is disabled, and works again when the user is enabled', async () => {
    const { userId, ...account } = await system.account()
    const status = async () => (await system.call(account, 'GET', '/organizations')).status
    expect(await status()).toBe(200)

    await formctl('user', 'disable', '--user', userId)
    const disabledAt = performance.now()
    for (;;) {
      const requestedAt = performance.now()
      if ((await status()) === 401) break
      expect(requestedAt - disabledAt).toBeLessThan(1_000)
      await delay(20)
    }

    await formctl('user', 'enable', '--user', userId)
    await vi.waitUntil(async () => (await status()) === 200, { timeout: 10_000 })
  })

  it('stops when it expires', async () => {
    const { userId } = await system.account()
    await using directory = await openDirectoryStore(system.directoryStoreUrl)
    const expires = new Date(Date.now() + 2_000)
    const { key } = await directory.createKey({ userId, name: 'Soon over', expireTime: expires })

    expect((await system.call({ apiKey: key }, 'GET', '/organizations')).status).toBe(200)
    for (;;) {
      const requestedAt = Date.now()
      if ((await system.call({ apiKey: key }, 'GET', '/organizations')).status === 401) break
      expect(requestedAt).toBeLessThan(expires.getTime() + 1_000)
      await delay(20)
    }
  })

  it('has the time of its last use', async () => {
    const account = await system.account()
    await system.call(account, 'GET', '/organizations')

    for (;;) {
      const { keys } = await formctl('key', 'list')
      const key = keys.find(({ userId }: { userId: string }) => userId === account.userId)
      if (key.lastUsedTime) break
      await delay(20)
    }
  })
})

describe('while the organizations service is down', () => {
  it('a cached key still works, and an unknown key gets 503', async () => {
    const [known, unknown] = [await system.account(), await system.account()]
    const created = await system.call(known, 'POST', known.forms, { form: {} })

    await system.end('organizations', 'SIGKILL')
    const read = await system.call(known, 'GET', `${known.forms}/${created.body.publicId}`)
    const rejected = await system.call(unknown, 'GET', unknown.forms)
    await system.start('organizations')

    // The authorization of the create is cached for the organization's slug.
    expect(read.status).toBe(200)
    expect(rejected.status).toBe(503)
    expect(rejected.headers.get('retry-after')).toBe('1')
    expect(rejected.body.error.details[0].reason).toBe('AUTHENTICATION_UNAVAILABLE')
    while ((await system.call(unknown, 'GET', unknown.forms)).status !== 200) await delay(50)
  })
})

describe('while the forms service is down', () => {
  it('its paths return 503 with Retry-After, and organizations are served', async () => {
    const account = await system.account()
    await system.end('forms', 'SIGKILL')

    const forms = await system.call(account, 'GET', account.forms)
    const organizations = await system.call(account, 'GET', '/organizations')
    await system.start('forms')

    expect(forms.status).toBe(503)
    expect(forms.body.error.details[0]).toMatchObject({
      reason: 'UPSTREAM_UNAVAILABLE',
      metadata: { service: 'forms' },
    })
    expect(forms.headers.get('retry-after')).toBe('1')
    expect(organizations.status).toBe(200)
    while ((await system.call(account, 'GET', account.forms)).status !== 200) await delay(50)
  })
})
