import { request } from 'node:http'
import { ErrorBody } from '@fms/contracts'
import { anyCharacter } from '@fms/testkit/any-character'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { sharedSystem } from '../shared-system.ts'
import { type Account, publishable } from '../system.ts'

const runs = Number(process.env.FC_RUNS ?? 500)

const system = await sharedSystem()
let account: Account
let form: { path: string; publicId: string }

beforeAll(async () => {
  account = await system.account()
  form = (await system.call(account, 'POST', account.forms, { form: publishable() })).body
})

/** Sends a request unchanged; `fetch` would correct it. */
const send = (method: string, path: string, headers: Record<string, string>, body: string | Buffer) =>
  new Promise<{ status: number; headers: Headers; text: string }>((resolve, reject) => {
    const outgoing = request(
      `${system.baseUrl}/`,
      { method, path, headers: { 'x-api-key': account.apiKey, ...headers } },
      async (response) => {
        const chunks = await response.setEncoding('utf8').toArray()
        resolve({
          status: response.statusCode!,
          headers: new Headers(response.headers as Record<string, string>),
          text: chunks.join(''),
        })
      },
    )
    outgoing.on('error', reject).end(body)
  })

const brokenJson = fc.oneof(
  fc.constantFrom(
    '',
    'null',
    '[]',
    '"x"',
    '{',
    '{"form":',
    '{"form":{}}}',
    '\u{feff}{}',
    '{"form":{"name":"\\ud800"}}',
  ),
  fc.constantFrom(
    '{"form":{"maxFollowUpQuestions":1e999}}',
    '{"__proto__":{}}',
    '{"form":{"constructor":1}}',
  ),
  fc.nat({ max: 3000 }).map((depth) => `${'['.repeat(depth + 65)}${']'.repeat(depth + 65)}`),
  fc.string({ unit: anyCharacter, maxLength: 40 }).map((text) => `${text}{`),
  fc.uint8Array({ minLength: 1, maxLength: 40 }).map((bytes) => Buffer.concat([Buffer.from([0xff]), bytes])),
)

/** Valid JSON that no write accepts. */
const invalidBody = fc
  .oneof(
    fc.record({ form: fc.oneof(fc.constant(null), fc.integer(), fc.array(fc.anything())) }),
    fc.record({ form: fc.record({ name: fc.oneof(fc.constant(''), fc.integer(), fc.constant(null)) }) }),
    fc.record({
      form: fc.record({
        steps: fc.array(fc.oneof(fc.integer(), fc.constant({ key: 'a b' })), { minLength: 1 }),
      }),
    }),
    fc.record({
      form: fc.record({ theme: fc.oneof(fc.integer(), fc.record({ buttonRadiusPx: fc.string() })) }),
    }),
    fc
      .tuple(fc.stringMatching(/^[a-zA-Z]{5,12}$/), fc.jsonValue())
      .map(([name, value]) => ({ form: {}, [`x${name}`]: value })),
    fc.record({
      form: fc.constant({}),
      validateOnly: fc.oneof(fc.string(), fc.integer(), fc.constant(null)),
    }),
  )
  .map((value) => JSON.stringify(value))

const unusualRef = fc.oneof(
  fc.constantFrom(
    '..',
    '.',
    '%2e%2e',
    '%2F',
    '%',
    '%zz',
    '%00',
    "'%20OR%201=1%20--",
    '$where',
    '__proto__',
    'x'.repeat(5_000),
  ),
  fc
    .string({ unit: anyCharacter, minLength: 1, maxLength: 20 })
    .map((text) => encodeURIComponent(text.toWellFormed())),
)

const invalidQuery = fc.oneof(
  fc.constantFrom(
    'pageSize=-1',
    'pageSize=1.5',
    'skip=x',
    'pageToken=AAAA',
    'filter=name+%3D',
    'filter=%28',
    'orderBy=live',
  ),
  fc.constantFrom(
    'pageSize=1&pageSize=2',
    'filter=a&filter=b',
    'afterSequence=-1',
    'afterSequence=9007199254740992',
    'unknown=1',
    'pageSize=9007199254740992',
    '__proto__=1',
  ),
  fc
    .string({ unit: anyCharacter, minLength: 1, maxLength: 30 })
    .map((text) => `filter=name%20${encodeURIComponent(text.toWellFormed())}(`),
)

const json = { 'content-type': 'application/json' }

/** Requests that must be rejected. The path is without `/v2`. */
const malformed = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('POST', 'PATCH'),
      fc.oneof(brokenJson, invalidBody),
      fc.oneof(
        { weight: 9, arbitrary: fc.constant(json) },
        { weight: 1, arbitrary: fc.constant({ 'content-type': 'text/plain' }) },
      ),
    )
    .map(([method, body, headers]) => ({
      method,
      path: () => (method === 'POST' ? account.forms : `${account.forms}/${form.publicId}`),
      headers,
      body,
    })),
  fc.tuple(fc.constantFrom('GET', 'PATCH', 'DELETE'), unusualRef).map(([method, ref]) => ({
    method,
    path: () => `${account.forms}/${ref}`,
    headers: json,
    body: method === 'PATCH' ? '{"form":{}}' : '',
  })),
  fc.tuple(invalidQuery, fc.constantFrom('forms', 'events', 'events/stream')).map(([query, list]) => ({
    method: 'GET',
    path: () => `/organizations/${account.slug}/${list}?${query}`,
    headers: {},
    body: '',
  })),
  fc.constantFrom('nonsense', '3-live', '', '"unclosed').map((tag) => ({
    method: 'DELETE',
    path: () => `${account.forms}/${form.publicId}`,
    headers: { ...json, 'if-match': tag },
    body: '',
  })),
  invalidBody.map((body) => ({
    method: 'POST',
    path: () => `${account.forms}/${form.publicId}/publish`,
    headers: json,
    body,
  })),
)

describe('a malformed request', () => {
  it(`gets a 4xx with an error body and changes nothing (${runs} random requests)`, async () => {
    const listForms = () => system.call(account, 'GET', `${account.forms}?pageSize=1000`)
    const before = (await listForms()).body

    await fc.assert(
      fc.asyncProperty(malformed, async ({ method, path, headers, body }) => {
        const response = await send(method, `/v2${path()}`, headers, body)

        expect(response.status, response.text).toBeGreaterThanOrEqual(400)
        expect(response.status, response.text).toBeLessThan(500)
        expect(response.headers.get('content-type')).toContain('application/json')
        const errorBody = ErrorBody.parse(JSON.parse(response.text))
        expect(errorBody.error.code).toBe(response.status)
        system.check(method, path(), { ...response, body: errorBody })
      }),
      { numRuns: runs },
    )

    expect((await listForms()).body).toEqual(before)
  }, 120_000)
})
