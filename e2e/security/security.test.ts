import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gzipSync } from 'node:zlib'
import { createPageTokens } from '@fms/aip'
import { identityHeader } from '@fms/contracts'
import { openDirectoryStore } from '@fms/directory-store'
import { openFormsStore } from '@fms/forms-store'
import { createIdentitySigner } from '@fms/service-kit'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createFormsApp } from '../../services/forms/src/app.ts'
import { type Account, type ApiResponse, publishable, type System, startSystem } from '../system.ts'
import { sendRaw } from './raw-http.ts'
import { createSecretScanner } from './secret-scanner.ts'

let system: System
let account: Account
let formPath: string

beforeAll(async () => {
  system = await startSystem({ env: { PUBLISH_TIMEOUT_MS: '1000' } })
  account = await system.account()
  const { body } = await system.call(account, 'POST', account.forms, { form: publishable() })
  formPath = `${account.forms}/${body.publicId}`
})
afterAll(() => system[Symbol.asyncDispose]())

const reasonOf = ({ body }: { body: { error: { details: { reason: string }[] } } }) =>
  body.error.details[0]!.reason

describe('a malicious body', () => {
  const mebibyte = 1024 * 1024
  const filled = (head: string, unit: (index: number) => string, tail: string) => {
    let text = head
    for (let index = 0; text.length < mebibyte - 200; index++) text += unit(index)
    return text + tail
  }

  it.each<[string, () => string, number, string]>([
    [
      '100,000 nested lists',
      () => `{"form":{"steps":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`,
      400,
      'MALFORMED_JSON',
    ],
    [
      '100,000 nested objects',
      () => `{"form":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`,
      400,
      'MALFORMED_JSON',
    ],
    ['unclosed lists', () => '['.repeat(mebibyte - 10), 400, 'MALFORMED_JSON'],
    [
      '100,000 unknown members',
      () => filled('{"form":{"name":"x"', (i) => `,"a${i}":1`, '}}'),
      400,
      'INVALID_REQUEST',
    ],
    [
      '100,000 duplicates of a member',
      () => filled('{"form":{"name":"x"', () => ',"name":"y"', '}}'),
      200,
      '',
    ],
    [
      '100,000 __proto__ members',
      () => filled('{"form":{"name":"x"', () => ',"__proto__":{}', '}}'),
      400,
      'INVALID_REQUEST',
    ],
    ['100,000 steps', () => filled('{"form":{"steps":[{}', () => ',{}', ']}}'), 400, 'INVALID_REQUEST'],
    [
      'one long number',
      () => filled('{"form":{"maxFollowUpQuestions":1', () => '0', '}}'),
      400,
      'MALFORMED_JSON',
    ],
    [
      'one long fraction',
      () => filled('{"form":{"maxFollowUpQuestions":0.', () => '3', '}}'),
      400,
      'INVALID_REQUEST',
    ],
    [
      'one long escaped name',
      () => filled('{"form":{"name":"', () => '\\u0061', '"}}'),
      400,
      'INVALID_REQUEST',
    ],
    [
      'a name of only white space',
      () => filled('{"form":{"name":"', () => ' ', '"}}'),
      400,
      'INVALID_REQUEST',
    ],
    [
      'an unclosed string of backslashes',
      () => filled('{"form":{"name":"', () => '\\\\', ''),
      400,
      'MALFORMED_JSON',
    ],
  ])('of %s gets a short response', async (_, body, status, reason) => {
    const response = await system.call(account, 'POST', account.forms, body())

    expect([response.status, status === 200 ? '' : reasonOf(response)]).toEqual([status, reason])
    expect(JSON.stringify(response.body).length).toBeLessThan(400_000)
    if (status === 200) expect(response.body.name).toBe('y')
  })

  it('is rejected when it is compressed', async () => {
    const bomb = gzipSync(`{"form":{"name":"${' '.repeat(50_000_000)}"}}`)

    const response = await fetch(`${system.baseUrl}${account.forms}`, {
      method: 'POST',
      headers: {
        'x-api-key': account.apiKey,
        'content-type': 'application/json',
        'content-encoding': 'gzip',
      },
      body: bomb,
    })

    expect(response.status).toBe(415)
  })

  it('is rejected by the gateway and by a service when a member occurs twice', async () => {
    const duplicateMember = '{"validateOnly":true,"validateOnly":false}'
    const published = await system.call(account, 'POST', `${formPath}/publish`, duplicateMember)
    const deleted = await system.call(account, 'DELETE', formPath, duplicateMember)

    expect([published.status, deleted.status]).toEqual([400, 400])
    expect((await system.call(account, 'GET', formPath)).body.live).toBe(false)
  })
})

describe('an invalid key', () => {
  it('gets byte for byte the same response for every defect and every path', async () => {
    const { userId } = account
    await using directory = await openDirectoryStore(system.directoryStoreUrl)
    const revoked = await directory.createKey({ userId, name: 'Revoked' })
    await directory.revokeKey(revoked.apiKey.keyId)
    const expired = await directory.createKey({
      userId,
      name: 'Expired',
      expireTime: new Date(Date.now() + 1),
    })
    await new Promise((expired) => setTimeout(expired, 5))
    const keys = [
      '',
      'x-api-key: \r\n',
      'x-api-key: fms_short\r\n',
      `x-api-key: fms_${'A'.repeat(43)}\r\n`,
      `x-api-key: ${account.apiKey}A\r\n`,
      `x-api-key: ${account.apiKey.toLowerCase()}\r\n`,
      `x-api-key: ${account.apiKey}\r\nx-api-key: ${account.apiKey}\r\n`,
      `x-api-key: ${revoked.key}\r\n`,
      `x-api-key: ${expired.key}\r\n`,
    ]
    const bearers = [account.apiKey, revoked.key, 'x'].map((key) => `authorization: Bearer ${key}\r\n`)
    const targets = [
      'GET /v2/organizations',
      `GET /v2${account.forms}`,
      `DELETE /v2${formPath}`,
      'GET /v2/organizations/none',
      'PUT /v2/nowhere',
      `POST /v2${formPath}/publish`,
    ]
    const port = Number(new URL(system.baseUrl).port)

    const textsOf = async (headers: string[]) => {
      const responses = await Promise.all(
        targets.flatMap((target) =>
          headers.map((header) =>
            sendRaw(port, `${target} HTTP/1.1\r\nhost: x\r\nx-request-id: same\r\n${header}\r\n`, {
              responses: 1,
            }),
          ),
        ),
      )
      const texts = responses.map(({ responses: [response] }) => {
        const { date: _, ...headers } = response!.headers
        return JSON.stringify({ ...response, headers })
      })
      expect(responses[0]!.responses[0]!.status).toBe(401)
      return [...new Set(texts)]
    }

    expect(await textsOf(keys)).toEqual([expect.stringContaining('API_KEY_INVALID')])
    // A hint for those who send a token, whatever it is.
    expect(await textsOf(bearers)).toEqual([expect.stringContaining('not in Authorization: Bearer')])
  })
})

describe('an internal failure', () => {
  const reasons = [
    'INTERNAL',
    'STORE_UNAVAILABLE',
    'STORE_NOT_MIGRATED',
    'STORE_NOT_SUPPORTED',
    'STORE_SCHEMA_TOO_NEW',
    'UPSTREAM_UNAVAILABLE',
    'AUTHENTICATION_UNAVAILABLE',
    'PUBLISHING_UNAVAILABLE',
    'PUBLISH_TIMEOUT',
  ]
  /** Matches texts of drivers, engines, stack traces and paths of this machine. */
  const internals =
    /sqlite|mongo|SQL|no such|database|malformed|ECONN|ENOENT|errno|node:|\.ts\b|\\n +at |127\.0\.0\.1|\/tmp|zod|stack|undici/

  const expectPublicError = (response: ApiResponse) => {
    expect([500, 503, 504]).toContain(response.status)
    expect(reasons).toContain(reasonOf(response))
    expect(JSON.stringify({ ...response.body, headers: [...response.headers] })).not.toMatch(internals)
  }

  const sendAll = () =>
    Promise.all([
      system.call(account, 'GET', formPath),
      system.call(account, 'GET', account.forms),
      system.call(account, 'POST', account.forms, { form: {} }),
      system.call(account, 'PATCH', formPath, { form: { name: 'Other' } }),
      system.call(account, 'DELETE', formPath),
      system.call(account, 'POST', `${formPath}/publish`),
    ])

  it('of a locked, changed, corrupt or missing store reveals no internals', async () => {
    const file = join(system.dataDir, 'forms.db')
    const store = new DatabaseSync(file, { defensive: false })

    store.exec('BEGIN EXCLUSIVE')
    const locked = await system.call(account, 'PATCH', formPath, { form: { name: 'Other' } })
    store.exec('ROLLBACK')
    expectPublicError(locked)

    store.exec('ALTER TABLE forms RENAME TO elsewhere')
    for (const response of await sendAll()) expectPublicError(response)
    store.exec('ALTER TABLE elsewhere RENAME TO forms')
    expect((await system.call(account, 'GET', formPath)).status).toBe(200)

    store.exec("PRAGMA writable_schema = ON; UPDATE sqlite_master SET rootpage = 9999 WHERE name = 'forms'")
    store.exec('PRAGMA schema_version = 9999')
    store.close()
    for (const response of await sendAll()) expectPublicError(response)

    await system.end('forms', 'SIGKILL')
    for (const response of await sendAll()) expectPublicError(response)

    const directory = new DatabaseSync(join(system.dataDir, 'directory.db'))
    for (const { name } of directory.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all())
      directory.exec(`ALTER TABLE "${name}" RENAME TO "${name}_elsewhere"`)
    directory.close()
    expectPublicError(await system.call({ apiKey: `fms_${'A'.repeat(43)}` }, 'GET', '/organizations'))
  })

  it('of an unreachable MongoDB reveals no internals, and the log does not contain its password', async () => {
    const url = 'mongodb://fms:the-password@127.0.0.1:1/forms?replicaSet=rs0&authSource=admin'
    await using forms = await openFormsStore(url)
    const scanner = createSecretScanner({ 'its password': 'the-password' })
    const secret = 'a secret of the tests, long enough'
    const app = createFormsApp({
      logger: pino({ level: 'trace' }, { write: (line) => scanner.scan('forms', line) }),
      internalSecrets: [secret],
      forms,
      publicFormBaseUrl: 'https://forms.example/f',
      pageTokens: createPageTokens([secret]),
      now: () => new Date(),
    })
    const organizationId = crypto.randomUUID()
    const sign = createIdentitySigner(secret)
    const key = { id: organizationId, prefix: 'abcd1234' }
    const token = sign({ userId: organizationId, organizationId, role: 'editor', readOnly: false, key })
    const path = `/organizations/${organizationId}/forms`

    const responses = await Promise.all([
      app.inject({ url: path, headers: { [identityHeader]: token } }),
      app.inject({ method: 'POST', url: path, headers: { [identityHeader]: token }, payload: { form: {} } }),
      app.inject('/readyz'),
    ])

    for (const response of responses) {
      expect(response.statusCode).toBe(503)
      expect(response.body).not.toMatch(internals)
    }
    expect(scanner.lines.get('forms')).toBeGreaterThan(0)
    await scanner.assertNoSecrets()
  })
})
