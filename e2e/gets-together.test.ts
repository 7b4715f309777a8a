import { randomUUID } from 'node:crypto'
import { maxGetFormsChars } from '@fms/contracts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sendRaw } from './raw-http.ts'
import { type Account, publishable, type System, startSystem } from './system.ts'

let system: System
let account: Account

beforeAll(async () => {
  // Its headers count the requests, and would differ.
  system = await startSystem({ env: { RATE_LIMIT_PER_MINUTE: '0' } })
  account = await system.account()
})
afterAll(() => system[Symbol.asyncDispose]())

const createForm = async (fields: object = {}) => {
  const { body, headers } = await system.call(account, 'POST', account.forms, {
    form: publishable(fields),
  })
  return { ref: body.publicId as string, path: body.path as string, etag: headers.get('etag')! }
}

/** On one connection, in one go: what arrives together is answered in its order. */
const sendAll = async (requests: string[]) => {
  const { answers } = await sendRaw(Number(new URL(system.baseUrl).port), requests.join(''), {
    answers: requests.length,
  })
  return answers.map(({ headers: { date: _, ...headers }, ...answer }) => ({ ...answer, headers }))
}

it('gets of a form are answered together as they are alone', async () => {
  const [first, second] = [await createForm({ name: 'Ünïcode ☃' }), await createForm()]
  await system.call(account, 'POST', `${account.forms}/${second.ref}/publish`)
  const title = 'x'.repeat(maxGetFormsChars / 64)
  const long = await createForm({
    steps: Array.from({ length: 50 }, (_, index) => ({ type: 'text', key: `k${index}`, title })),
  })
  const get = (ref: string, headers = '') =>
    `GET /v2${account.forms}/${ref} HTTP/1.1\r\nhost: x\r\nx-api-key: ${account.apiKey}\r\n${headers}\r\n`
  const requests = [
    get(first.ref),
    get(second.ref),
    get(first.path.split('/').at(-1)!.toUpperCase()),
    get(first.ref, `if-none-match: ${first.etag}\r\n`),
    get(second.ref, 'if-none-match: "other"\r\n'),
    get(randomUUID()),
    get('no.such'),
    get(`${first.ref}?view=full`),
    get(long.ref),
    get(long.ref),
    get(second.ref).replace(account.slug, account.organizationId),
  ].map((request, index) => request.replace('\r\n', `\r\nx-request-id: r-${index}\r\n`))

  const together = await sendAll(requests)

  const alone: typeof together = []
  for (const request of requests) alone.push(...(await sendAll([request])))
  expect(together).toEqual(alone)
  expect(together.map(({ status }) => status)).toEqual([
    200, 200, 200, 304, 200, 404, 404, 400, 200, 200, 200,
  ])
  const figures = await (await fetch(`${system.urls.forms}/metrics`)).text()
  expect(figures).toMatch(/http_request_duration_seconds_count\{[^}]*get-forms",status="200"\} [1-9]/)
})
