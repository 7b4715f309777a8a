import { describe, expect, it } from 'vitest'
import { type Client, FormsApiError, FormsConnectionError } from '../index.ts'
import { answered, failure, type Reaction, startServer } from '../testing.ts'
import { pauseMs } from './repeat.ts'

const calls = {
  read: ({ forms }) => forms.get('acme', 'form'),
  comparison: ({ forms }) => forms.changes('acme', 'form'),
  list: async ({ forms }) => {
    for await (const _ of forms.list('acme')) throw new Error('there is none')
  },
  create: ({ forms }) => forms.create('acme', {}),
  'dry create': ({ forms }) => forms.create('acme', {}, { validateOnly: true }),
  update: ({ forms }) => forms.update('acme', 'form', {}),
  'update with ifMatch': ({ forms }) => forms.update('acme', 'form', {}, { ifMatch: '"1"' }),
  'update with requestId': ({ forms }) =>
    forms.update('acme', 'form', {}, { ifMatch: '"1"', requestId: 'mine' }),
  delete: ({ forms }) => forms.delete('acme', 'form'),
  publish: ({ forms }) => forms.publish('acme', 'form'),
  unpublish: ({ forms }) => forms.unpublish('acme', 'form'),
  rollback: ({ revisions }) => revisions.rollback('acme', 'form', 'live', { ifMatch: '"1"' }),
  'list of deleted forms': async ({ deletedForms }) => {
    for await (const _ of deletedForms.list('acme')) throw new Error('there is none')
  },
  undelete: ({ deletedForms }) => deletedForms.undelete('acme', 'form'),
  purge: ({ deletedForms }) => deletedForms.purge('acme', 'form'),
} satisfies Record<string, (client: Client) => Promise<unknown>>

type Kind = keyof typeof calls
const kinds = Object.keys(calls) as Kind[]

const success = answered({ forms: [], deletedForms: [], nextPageToken: '', totalSize: 0 })

const unknowns: [string, Reaction][] = [
  ['503 UPSTREAM_UNAVAILABLE', failure(503, 'UPSTREAM_UNAVAILABLE')],
  ['503 STORE_UNAVAILABLE', failure(503, 'STORE_UNAVAILABLE')],
  ['504 PUBLISH_TIMEOUT', failure(504, 'PUBLISH_TIMEOUT')],
  ["a proxy's 502", { status: 502, text: '<html>' }],
  ['no response', 'hang up'],
  ['half a response', 'break off'],
]

describe('a failure with an unknown outcome', () => {
  it.each(unknowns.flatMap(([what, reaction]) => kinds.map((kind) => [what, kind, reaction] as const)))(
    '(%s) repeats a %s',
    async (_, kind, reaction) => {
      await using server = await startServer([reaction, reaction, success])

      await calls[kind](server.client)

      expect(server.requests).toHaveLength(3)
      expect(server.requests[2]).toEqual(server.requests[0])
    },
  )
})

it('repeats nothing beyond a quota, which a pause does not free', async () => {
  await using server = await startServer([failure(429, 'QUOTA_EXCEEDED'), success])

  await expect(calls.create(server.client)).rejects.toMatchObject({ reason: 'QUOTA_EXCEEDED' })

  expect(server.requests).toHaveLength(1)
})

describe('a failure without execution of the request', () => {
  const reactions: [string, Reaction][] = [
    ['429 RATE_LIMITED', failure(429, 'RATE_LIMITED')],
    ["a proxy's 429", { status: 429, text: 'slow down' }],
    ['503 AUTHENTICATION_UNAVAILABLE', failure(503, 'AUTHENTICATION_UNAVAILABLE')],
    ['409 UPDATE_ABORTED', failure(409, 'UPDATE_ABORTED')],
  ]
  it.each(reactions.flatMap(([what, reaction]) => kinds.map((kind) => [what, kind, reaction] as const)))(
    '(%s) repeats a %s',
    async (_, kind, reaction) => {
      await using server = await startServer([reaction, success])

      await calls[kind](server.client)

      expect(server.requests).toHaveLength(2)
    },
  )
})

describe('a rejection', () => {
  it.each(
    [400, 401, 403, 404, 409, 412, 500].flatMap((status) => kinds.map((kind) => [status, kind] as const)),
  )('(%i) is thrown immediately by a %s', async (status, kind) => {
    await using server = await startServer([failure(status, 'SOME_REASON'), success])

    await expect(calls[kind](server.client)).rejects.toMatchObject({ code: status, reason: 'SOME_REASON' })

    expect(server.requests).toHaveLength(1)
    expect(server.waits).toEqual([])
  })

  it('by a redirect is thrown, and the key is not sent to another host', async () => {
    await using other = await startServer([])
    await using server = await startServer([{ status: 307, headers: { location: other.baseUrl } }])

    await expect(calls.publish(server.client)).rejects.toMatchObject({ code: 307, reason: 'UNKNOWN' })

    expect(other.requests).toEqual([])
  })
})

describe('a rejection after an attempt with an unknown outcome', () => {
  const moved = failure(412, 'FORM_MOVED')
  const gone = failure(404, 'FORM_NOT_FOUND')

  it('does not decide an update without a requestId: the first attempt may have changed the form', async () => {
    await using server = await startServer(['hang up', moved])

    await expect(calls['update with ifMatch'](server.client)).rejects.toThrow(FormsConnectionError)
  })

  it.each([
    ['update with requestId', moved],
    ['rollback', moved],
    ['unpublish', failure(400, 'FORM_NOT_LIVE')],
    ['delete', gone],
    ['undelete', failure(404, 'DELETED_FORM_NOT_FOUND')],
    ['create', failure(409, 'FORM_ID_TAKEN')],
  ] as const)(
    'is thrown for a(n) %s: its requestId shows that no attempt was executed',
    async (kind, reaction) => {
      await using server = await startServer(['hang up', reaction])

      await expect(calls[kind](server.client)).rejects.toThrow(FormsApiError)
    },
  )

  it('is thrown for an update that was not executed', async () => {
    await using server = await startServer([failure(429, 'RATE_LIMITED'), moved])

    await expect(calls['update with ifMatch'](server.client)).rejects.toMatchObject({ reason: 'FORM_MOVED' })
  })
})

describe('repeats', () => {
  const away = failure(503, 'UPSTREAM_UNAVAILABLE')

  it('end after maxRetries, with the last error', async () => {
    const twice = { maxRetries: 2 }
    await using server = await startServer([away, away, away, success], twice)

    await expect(calls.read(server.client)).rejects.toThrow(FormsApiError)

    expect(server.requests).toHaveLength(3)
  })

  it('do not happen with maxRetries 0', async () => {
    await using server = await startServer([away, success], { maxRetries: 0 })

    await expect(calls.publish(server.client)).rejects.toMatchObject({ reason: 'UPSTREAM_UNAVAILABLE' })

    expect(server.requests).toHaveLength(1)
  })

  it('of a write end with the failure of the unknown outcome', async () => {
    await using server = await startServer([away, failure(429, 'RATE_LIMITED')], { maxRetries: 1 })

    await expect(calls.update(server.client)).rejects.toMatchObject({ reason: 'UPSTREAM_UNAVAILABLE' })
  })

  it('of a read end with the last failure', async () => {
    await using server = await startServer([away, failure(429, 'RATE_LIMITED')], { maxRetries: 1 })

    await expect(calls.read(server.client)).rejects.toMatchObject({ reason: 'RATE_LIMITED' })
  })

  it('wait longer each time, in addition to Retry-After', async () => {
    const asked = failure(429, 'RATE_LIMITED', { headers: { 'retry-after': '7' } })
    await using server = await startServer([away, away, asked, away, success])

    await calls.read(server.client)

    expect(server.waits).toEqual([125, 250, 7_500, 1_000])
  })

  it('do not wait for a Retry-After of more than a minute, which the error has', async () => {
    const asked = failure(429, 'RATE_LIMITED', { headers: { 'retry-after': '61' } })
    await using server = await startServer([asked, success])

    await expect(calls.read(server.client)).rejects.toMatchObject({ retryAfterSeconds: 61 })

    expect(server.waits).toEqual([])
  })
})

describe('pauseMs', () => {
  it('is random, and at most 8 s without Retry-After', () => {
    expect(pauseMs(0, 1)).toBe(250)
    expect(pauseMs(5, 1)).toBe(8_000)
    expect(pauseMs(50, 1)).toBe(8_000)
    expect(pauseMs(50, 0)).toBe(0)
    expect(pauseMs(0, 0.5, 60)).toBe(60_125)
  })
})
