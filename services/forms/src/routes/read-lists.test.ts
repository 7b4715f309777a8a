import { randomUUID } from 'node:crypto'
import { AnswerBundle, maxLists, maxListsBytes } from '@fms/contracts'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { type FormsService, refusalOf, startForms } from '../testing.ts'

type Identity = Parameters<FormsService['send']>[1]

const readLists = (service: FormsService, lists: object[], identity: Identity = {}) =>
  service.send(
    {
      method: 'POST',
      url: `/internal/organizations/${service.organizationId}/read-lists`,
      payload: { lists },
    },
    identity,
  )

/** Of requests with ids of their own. */
const answersTo = async (service: FormsService, queries: object[], identity: Identity = {}) => {
  const lists = queries.map((query, index) => ({ query, requestIds: [`r-${index}`] }))
  const response = await readLists(service, lists, identity)
  expect(response.statusCode).toBe(200)
  return AnswerBundle.decode(response.rawPayload).map(
    (answer) => answer && { ...answer, body: answer.body.toString() },
  )
}

describe('the question for several lists', () => {
  it('answers each as a list by itself would', async () => {
    await using service = await startForms()
    for (const name of ['Ünïcode ☃\n', 'second', 'third']) await service.given.form({ name })
    await service.given.form({}, randomUUID())
    const queries = [
      {},
      { pageSize: '2' },
      { filter: 'name = "s*"', orderBy: 'name desc', skip: '0' },
      { filter: 'name = "none"' },
    ]

    const answers = await answersTo(service, queries)

    const alone = await Promise.all(
      queries.map(async (query) => {
        const { statusCode, body } = await service.send({
          url: `/organizations/${service.organizationId}/forms?${new URLSearchParams(query as Record<string, string>)}`,
        })
        return { status: statusCode, body }
      }),
    )
    expect(answers).toEqual(alone)
    expect(answers.map((answer) => JSON.parse(answer!.body).totalSize)).toEqual([3, 3, 1, 0])
  })

  it('leaves out what is refused: its caller hears why when it asks by itself', async () => {
    await using service = await startForms()

    const answers = await answersTo(service, [
      { filter: 'name = ' },
      { pageSize: '-1' },
      { pageSize: ['1', '2'] },
      { unknown: '1' },
      { pageToken: 'forged' },
      {},
    ])

    expect(answers.map((answer) => answer?.status)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
      200,
    ])
  })

  it('leaves out what is too long to go with those before', async () => {
    await using service = await startForms()
    const title = 'x'.repeat(maxListsBytes / 100)
    const steps = Array.from({ length: 60 }, (_, index) => ({ type: 'text', key: `k${index}`, title }))
    await service.given.form({ name: 'short' })
    await service.given.form({ name: 'long', steps })

    const answers = await answersTo(
      service,
      ['long', 'long', 'short', '*'].map((name) => ({ filter: `name = "${name}"` })),
    )

    expect(answers.map((answer) => answer?.status)).toEqual([200, undefined, 200, undefined])
  })

  it('is a read: viewers and read-only keys may', async () => {
    await using service = await startForms()

    const [answer] = await answersTo(service, [{}], { role: 'viewer', readOnly: true })

    expect(answer).toMatchObject({ status: 200 })
  })

  it('knows no organization but the one the gateway vouches for', async () => {
    await using service = await startForms()
    const lists = [{ query: {}, requestIds: ['r'] }]

    const response = await readLists(service, lists, { organizationId: randomUUID() })

    expect(refusalOf(response)).toMatchObject({ code: 404, reason: 'ORGANIZATION_NOT_FOUND' })
  })

  it.each([
    ['nothing', []],
    ['too much', Array.from({ length: maxLists + 1 }, () => ({ query: {}, requestIds: ['r'] }))],
    ['a list that nobody asks for', [{ query: {}, requestIds: [] }]],
    ['more than it knows of', [{ query: {}, requestIds: ['r'], ifNoneMatch: '*' }]],
  ])('refuses %s', async (_, lists) => {
    await using service = await startForms()

    expect(refusalOf(await readLists(service, lists))).toMatchObject({ code: 400, reason: 'INVALID_REQUEST' })
  })

  it('has a line in the log for each request, under its id, and none of its own', async () => {
    const lines: object[] = []
    const logger = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line)) })
    await using service = await startForms({ logger })

    await readLists(service, [
      { query: {}, requestIds: ['r-1', 'r-2'] },
      { query: { filter: '(' }, requestIds: ['r-3'] },
      { query: { pageSize: '1' }, requestIds: ['r-4'] },
    ])

    const line = {
      msg: 'answered',
      method: 'GET',
      route: '/organizations/:organizationId/forms',
      status: 200,
      duration_ms: expect.any(Number),
      user: expect.any(String),
      organization: service.organizationId,
    }
    expect(lines).toEqual(
      ['r-1', 'r-2', 'r-4'].map((id) => expect.objectContaining({ ...line, request_id: id })),
    )
  })

  it('fails as a whole where the store does', async () => {
    await using service = await startForms()
    await service.forms.close()

    const response = await readLists(service, [{ query: {}, requestIds: ['r'] }])

    expect(refusalOf(response)).toMatchObject({ code: 503, reason: 'STORE_UNAVAILABLE' })
  })
})
