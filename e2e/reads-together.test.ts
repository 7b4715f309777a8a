import { randomUUID } from 'node:crypto'
import { maxGetFormsBytes } from '@fms/contracts'
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

/** Gets their answers together, holds them against those that each gets alone, and tells their statuses. */
const statusesTogetherAsAlone = async (requests: string[]) => {
  const together = await sendAll(requests)
  const alone: typeof together = []
  for (const request of requests) alone.push(...(await sendAll([request])))
  expect(together).toEqual(alone)
  return together.map(({ status }) => status)
}

/** How often forms was asked for several things at once. */
const questionsOf = async (name: string) => {
  const figures = await (await fetch(`${system.urls.forms}/metrics`)).text()
  const count = new RegExp(`http_request_duration_seconds_count\\{[^}]*${name}",status="200"\\} (\\d+)`)
  return Number(figures.match(count)?.[1])
}

/** On one connection, in one go: what arrives together is answered in its order. */
const sendAll = async (requests: string[]) => {
  const heads = requests.flatMap((request, index) => (request.startsWith('HEAD') ? index : []))
  const { answers } = await sendRaw(Number(new URL(system.baseUrl).port), requests.join(''), {
    answers: requests.length,
    heads,
  })
  return answers.map(({ headers: { date: _, ...headers }, ...answer }) => ({ ...answer, headers }))
}

it('gets of a form are answered together as they are alone', async () => {
  const [first, second] = [await createForm({ name: 'Ünïcode ☃' }), await createForm()]
  await system.call(account, 'POST', `${account.forms}/${second.ref}/publish`)
  const title = 'x'.repeat(maxGetFormsBytes / 64)
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
    get(`${first.ref}#view=full`),
    get(long.ref),
    get(long.ref),
    get(second.ref).replace(account.slug, account.organizationId),
  ].map((request, index) => request.replace('\r\n', `\r\nx-request-id: r-${index}\r\n`))

  expect(await statusesTogetherAsAlone(requests)).toEqual([
    200, 200, 200, 304, 200, 404, 404, 400, 400, 200, 200, 200,
  ])
  expect(await questionsOf('get-forms')).toBeGreaterThan(0)
})

it('lists of forms are answered together as they are alone', async () => {
  for (const name of ['Ünïcode ☃', 'a & b', 'a & c', 'd']) await createForm({ name })
  const list = (query: string) =>
    `GET /v2${account.forms}${query} HTTP/1.1\r\nhost: x\r\nx-api-key: ${account.apiKey}\r\n\r\n`
  const [first] = await sendAll([list('?pageSize=2&filter=name:%22a%22')])
  const token = JSON.parse(first!.body).nextPageToken
  expect(token).not.toBe('')
  const requests = [
    list('?pageSize=1'),
    list(''),
    list('?pageSize=1'),
    list('?filter=name+%3D+%22a%20%26*%22&orderBy=name%20desc'),
    list(`?pageSize=2&filter=name:%22a%22&pageToken=${token}`),
    list('?skip=1'),
    list('?pageSize=1').replace(account.slug, account.organizationId),
    list('?%70ageSize=2&'),
    list('#pageSize=1'),
    list('?pageSize=1').replace('GET', 'HEAD'),
  ].map((request, index) => request.replace('\r\n', `\r\nx-request-id: r-${index}\r\n`))

  expect(await statusesTogetherAsAlone(requests)).toEqual(Array(10).fill(200))
  expect(await questionsOf('read-lists')).toBeGreaterThan(0)

  const wrong = ['?pageSize=x', '?filter=%28', '?pageSize=1&pageSize=2', '?__proto__=1', '?pageToken=x', '']
  const mixed = wrong.map((query, index) => list(query).replace('\r\n', `\r\nx-request-id: w-${index}\r\n`))
  expect(await statusesTogetherAsAlone(mixed)).toEqual([400, 400, 400, 400, 400, 200])
})
