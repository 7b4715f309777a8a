import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { AnswerBundle, type BundledAnswer, maxLists, type ReadListsRequest } from '@fms/contracts'
import { describe, expect, it } from 'vitest'
import { type Answer, type Gateway, sendTogether, startGateway } from './testing.ts'

type List = ReadListsRequest['lists'][number]

/** Forms that answer a list with what it asked for, and several lists as `together` says. */
const formsThat =
  (together: (lists: List[]) => (BundledAnswer<string> | undefined)[] | number): Answer =>
  ({ method, query, body }, reply) => {
    if (method !== 'POST') return { alone: query }
    const answers = together((JSON.parse(body as string) as ReadListsRequest).lists)
    return typeof answers === 'number'
      ? reply.code(answers).send({ error: {} })
      : reply.type(AnswerBundle.mediaType).send(AnswerBundle.encode(answers))
  }

const page = ({ query }: List) => ({ status: 200, body: JSON.stringify({ together: query }) })

const pathOf = (query = '') => `/v2/organizations/acme/forms${query}`

const list = (gateway: Gateway, query: string, id: string = randomUUID()) =>
  gateway.send('GET', pathOf(query), { headers: { 'x-request-id': id } })

const questions = (gateway: Gateway) =>
  gateway.forms.received
    .filter(({ method }) => method === 'POST')
    .map(({ url, headers, body }) => ({ url, headers, ...(JSON.parse(body) as ReadListsRequest) }))

const alone = (gateway: Gateway) => gateway.forms.received.filter(({ method }) => method === 'GET')

/** On one connection and in one piece, which is read in one turn. */
const sendInOneGo = (gateway: Gateway, queries: string[]) => {
  const socket = connect(Number(new URL(gateway.origin).port), '127.0.0.1')
  socket.write(
    queries
      .map((query) => `GET ${pathOf(query)} HTTP/1.1\r\nhost: x\r\nx-api-key: ${gateway.key}\r\n\r\n`)
      .join(''),
  )
  return { [Symbol.dispose]: () => socket.destroy() }
}

describe('lists of forms that arrive together', () => {
  it('are one question, and each has its own answer', async () => {
    await using gateway = await startGateway()
    gateway.forms.answer = formsThat((lists) => lists.map(page))

    const [plain, filtered] = await sendTogether(gateway, [
      () => list(gateway, '', 'r-1'),
      () => list(gateway, '?pageSize=2&filter=name%20%3D%20%22a%26b%22&skip=1&skip=2', 'r-2'),
    ])

    const query = { pageSize: '2', filter: 'name = "a&b"', skip: ['1', '2'] }
    expect(plain!.json()).toEqual({ together: {} })
    expect([filtered!.status, filtered!.json(), filtered!.headers]).toEqual([
      200,
      { together: query },
      expect.objectContaining({
        'content-type': 'application/json; charset=utf-8',
        'content-length': `${filtered!.text.length}`,
        'x-request-id': 'r-2',
      }),
    ])
    expect(questions(gateway)).toMatchObject([
      {
        url: `/internal/organizations/${gateway.organization.organizationId}/read-lists`,
        headers: { 'x-fms-identity': expect.stringMatching(/^eyJ/) },
        lists: [
          { query: {}, requestIds: ['r-1'] },
          { query, requestIds: ['r-2'] },
        ],
      },
    ])
  })

  it('are read once where they are equal', async () => {
    await using gateway = await startGateway()
    gateway.forms.answer = formsThat((lists) => lists.map(page))
    const queries = ['?skip=1', '?skip=2', '?skip=1', '?skip=1']

    const answers = await sendTogether(
      gateway,
      queries.map((query, index) => () => list(gateway, query, `r-${index}`)),
    )

    expect(answers.map((answer) => answer.json().together.skip)).toEqual(['1', '2', '1', '1'])
    expect(answers.map(({ headers }) => headers['x-request-id'])).toEqual(['r-0', 'r-1', 'r-2', 'r-3'])
    expect(questions(gateway).map(({ lists }) => lists)).toEqual([
      [
        { query: { skip: '1' }, requestIds: ['r-0', 'r-2', 'r-3'] },
        { query: { skip: '2' }, requestIds: ['r-1'] },
      ],
    ])
  })

  it('are no longer than a question may be', async () => {
    await using gateway = await startGateway()
    gateway.forms.answer = formsThat((lists) => lists.map(page))
    const skips = Array.from({ length: maxLists + 2 }, (_, index) => `${index}`)

    const answers = await sendTogether(
      gateway,
      skips.map((skip) => () => list(gateway, `?skip=${skip}`)),
    )

    expect(answers.map((answer) => answer.json().together.skip)).toEqual(skips)
    expect(questions(gateway).map(({ lists }) => lists.length)).toEqual([maxLists, 2])
  })

  it('wait for nobody who came before', async () => {
    await using gateway = await startGateway()
    const letGo = Promise.withResolvers<void>()
    const answer = formsThat((lists) => lists.map(page))
    gateway.forms.answer = async (request, reply) => {
      if (request.method === 'POST') await letGo.promise
      return answer(request, reply)
    }
    const slow = sendTogether(
      gateway,
      ['?skip=1', '?skip=2'].map((query) => () => list(gateway, query)),
    )
    await expect.poll(() => questions(gateway).length).toBe(1)

    expect((await list(gateway, '?skip=1')).json()).toEqual({ alone: { skip: '1' } })

    letGo.resolve()
    expect((await slow).map((each) => each.json().together.skip)).toEqual(['1', '2'])
  })

  it('of different callers stay apart', async () => {
    await using gateway = await startGateway()
    gateway.forms.answer = formsThat((lists) => lists.map(page))
    const stranger = gateway.directory.key([
      { organizationId: randomUUID(), slug: 'other', role: 'viewer' as const },
    ])
    const path = '/v2/organizations/other/forms'

    const answers = await sendTogether(gateway, [
      () => list(gateway, '?skip=1'),
      () => list(gateway, '?skip=2'),
      () => gateway.send('GET', `${path}?skip=1`, { as: stranger }),
      () => gateway.send('GET', `${path}?skip=2`, { as: stranger }),
      () => gateway.send('GET', pathOf('?skip=1'), { as: stranger }),
    ])

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 404])
    const asked = questions(gateway)
    expect(asked.map(({ lists }) => lists.length)).toEqual([2, 2])
    expect(new Set(asked.map(({ url }) => url)).size).toBe(2)
  })

  it.each([
    ['an answer for all that is no 200', (): number => 400],
    [
      'no answer for some',
      (lists: List[]) => lists.map((each) => (each.query.skip === '1' ? page(each) : undefined)),
    ],
  ])('ask each by itself after %s, and so do the next ones of their caller', async (_, together) => {
    await using gateway = await startGateway()
    gateway.forms.answer = formsThat(together)

    const answers = await sendTogether(gateway, [
      () => list(gateway, '?skip=1'),
      () => list(gateway, '?skip=2', 'r-2'),
    ])

    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(answers[1]!.json()).toEqual({ alone: { skip: '2' } })
    expect(alone(gateway).at(-1)).toMatchObject({ headers: { 'x-request-id': 'r-2' } })
    const before = alone(gateway).length
    using _socket = sendInOneGo(gateway, ['?skip=1', '?skip=2'])
    await expect.poll(() => alone(gateway).length).toBe(before + 2)
    expect(questions(gateway)).toHaveLength(1)
  })

  it('fail together, each under its own id, where forms is away', async () => {
    await using gateway = await startGateway()
    await gateway.forms.stop()

    const answers = await sendTogether(
      gateway,
      ['r-a', 'r-b'].map((id) => () => list(gateway, '', id)),
    )

    expect(answers.map(({ status, text }) => [status, text.match(/r-[ab]/)?.[0]])).toEqual([
      [503, 'r-a'],
      [503, 'r-b'],
    ])
  })

  it('leave others alone: a HEAD, a create', async () => {
    await using gateway = await startGateway()
    gateway.forms.answer = ({ method }) => ({ seen: method })
    const headers = { 'content-type': 'application/json' }

    await sendTogether(gateway, [
      () => gateway.send('HEAD', pathOf()),
      () => gateway.send('POST', pathOf(), { headers, body: '{}' }),
      () => list(gateway, ''),
    ])

    expect(gateway.forms.received.map(({ method }) => method).sort()).toEqual(['GET', 'HEAD', 'POST'])
  })
})
