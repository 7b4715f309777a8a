import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { publishable, startSystem } from '../system.ts'
import { createSecretScanner } from './secret-scanner.ts'

const key = `fms_${'k'.repeat(43)}`

describe('the secret scanner', () => {
  it.each([
    ['an API key', `{"level":30,"msg":"${key}"}`],
    [
      'an identity token',
      '{"level":30,"headers":{"x-fms-identity":"eyJhbGciOiJIUzI1NiJ9.eyJ1c2VySWQi.abc"}}',
    ],
    ['the password of a URL', '{"level":50,"err":{"message":"cannot reach mongodb://fms:pass@mongo:27017"}}'],
    ['INTERNAL_SECRET', '{"level":50,"config":{"INTERNAL_SECRET":"the one that is shared"}}'],
  ])('finds %s', async (name, line) => {
    const scanner = createSecretScanner({ INTERNAL_SECRET: 'the one that is shared' })
    const child = spawn(process.execPath, ['-e', `console.error(${JSON.stringify(line)})`])
    scanner.follow('child', child)
    await once(child, 'exit')

    await expect(scanner.assertNoSecrets()).rejects.toThrow(`child wrote ${name}`)
    expect(scanner.findings).toHaveLength(1)
    for (const secret of [key, 'pass@', 'the one that is shared', 'eyJ1c2VySWQi'])
      expect(scanner.findings[0]).not.toContain(secret)
  })

  it('accepts a line without secrets', async () => {
    const scanner = createSecretScanner({})
    scanner.scan('gateway', '{"level":30,"url":"http://127.0.0.1:8080/v2","msg":"answered fms_short"}')

    await scanner.assertNoSecrets()
  })
})

describe('the logs at LOG_LEVEL=trace', () => {
  it('contain no secret, also when requests fail', async () => {
    await using system = await startSystem({ env: { LOG_LEVEL: 'trace' } })
    const account = await system.account()
    const viewer = await system.account({ in: account, role: 'viewer' })
    const { body: form } = await system.call(account, 'POST', account.forms, { form: publishable() })
    const formPath = `${account.forms}/${form.publicId}`
    const send = (path: string, init: RequestInit = {}) =>
      fetch(`${system.baseUrl}${path}`, {
        ...init,
        headers: { 'x-api-key': account.apiKey, 'content-type': 'application/json', ...init.headers },
      }).then(({ status }) => status)

    expect((await system.call(account, 'POST', `${formPath}/publish`)).status).toBe(200)
    const rejected = await Promise.all([
      send(`/organizations/${account.apiKey}`),
      send(`/${account.apiKey}`),
      send(`${formPath}?key=${account.apiKey}`),
      send(`${account.forms}?pageToken=${account.apiKey}&filter=${account.apiKey}`),
      send(account.forms, { method: 'POST', body: JSON.stringify({ [account.apiKey]: account.apiKey }) }),
      send(account.forms, { method: 'POST', body: `{"form":{"name":"${account.apiKey}` }),
      send(formPath, { method: 'DELETE', headers: { 'x-api-key': viewer.apiKey } }),
      send(formPath, { headers: { 'x-api-key': key } }),
      send(formPath, {
        headers: { 'x-api-key': `${account.apiKey}x`, 'x-fms-identity': 'eyJhbGciOiJIUzI1NiJ9.eyJ.x' },
      }),
    ])
    expect(rejected.filter((status) => status < 400 || status > 499)).toEqual([])
    const direct = await fetch(`${system.urls.forms}${account.forms}`, {
      headers: { 'x-api-key': account.apiKey },
    })
    expect(direct.status).toBe(401)

    await system.end('organizations', 'SIGKILL')
    await system.end('forms', 'SIGKILL')
    await system.nats.stop()
    await delay(1_200)
    const failed = await Promise.all([
      send(formPath),
      send('/organizations'),
      send(`${formPath}/publish`, { method: 'POST' }),
      send(formPath, { headers: { 'x-api-key': viewer.apiKey } }),
      send(formPath, { headers: { 'x-api-key': key } }),
    ])
    expect(failed.filter((status) => status !== 503)).toEqual([])

    for (const name of ['gateway', 'organizations', 'forms', 'publisher'])
      expect(system.secretScanner.lines.get(name), name).toBeGreaterThan(0)
  })
})
