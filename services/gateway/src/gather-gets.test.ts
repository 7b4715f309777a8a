import { randomUUID } from 'node:crypto'
import { AnswerBundle, type BundledAnswer, type GetFormsRequest, maxGets } from '@fms/contracts'
import { describe, expect, it } from 'vitest'
import { type Answer, type Gateway, sendTogether, startGateway } from './testing.ts'

type Get = GetFormsRequest['gets'][number]

/** Forms that answer a get with what it asked for, and several gets as `together` says. */
const formsThat =
  (together: (gets: Get[]) => (BundledAnswer<string> | undefined)[] | number): Answer =>
  ({ method, url, body }, reply) => {
    if (method === 'GET') return { alone: url.split('/').at(-1) }
    const answers = together((JSON.parse(body as string) as GetFormsRequest).gets)
    return typeof answers === 'number'
      ? reply.code(answers).send({ error: {} })
      : reply.type(AnswerBundle.mediaType).send(AnswerBundle.encode(answers))
  }

const found = ({ formRef }: Get) => ({
  status: 200,
  etag: `"${formRef}"`,
  body: JSON.stringify({ together: formRef }),
})

const pathOf = (ref: string) => `/v2/organizations/acme/forms/${ref}`

const questions = (gateway: Gateway) =>
  gateway.forms.received
    .filter(({ method }) => method === 'POST')
    .map(({ url, headers, body }) => ({ url, headers, gets: (JSON.parse(body) as GetFormsRequest).gets }))

describe('gets of a form that arrive together', () => {
  it('are one question, and each has its own answer', async () => {
    await using gateway = await startGateway()
    const missing = { status: 404, body: '{"error":{"code":404}}' }
    gateway.forms.answer = formsThat((gets) =>
      gets.map((get) => {
        if (get.formRef === 'gone') return missing
        return get.ifNoneMatch ? { status: 304, etag: get.ifNoneMatch, body: '' } : found(get)
      }),
    )

    const [a, kept, gone] = await sendTogether(gateway, [
      () => gateway.send('GET', pathOf('a'), { headers: { 'x-request-id': 'r-a' } }),
      () => gateway.send('GET', pathOf('b'), { headers: { 'if-none-match': '"tag"' } }),
      () => gateway.send('GET', pathOf('gone')),
    ])

    expect([a!.status, a!.json(), a!.headers]).toEqual([
      200,
      { together: 'a' },
      expect.objectContaining({
        etag: '"a"',
        'content-type': 'application/json; charset=utf-8',
        'content-length': `${a!.text.length}`,
        'x-request-id': 'r-a',
      }),
    ])
    expect([kept!.status, kept!.text, kept!.headers.etag]).toEqual([304, '', '"tag"'])
    expect(kept!.headers).not.toHaveProperty('content-length')
    expect([gone!.status, gone!.text, gone!.headers.etag]).toEqual([404, missing.body, undefined])
    expect(questions(gateway)).toMatchObject([
      {
        url: `/internal/organizations/${gateway.organization.organizationId}/get-forms`,
        headers: { 'x-fms-identity': expect.stringMatching(/^eyJ/) },
        gets: [
          { formRef: 'a', requestId: 'r-a' },
          { formRef: 'b', ifNoneMatch: '"tag"' },
          { formRef: 'gone' },
        ],
      },
    ])
  })

  it('are no longer than a question may be', async () => {
    await using gateway = await startGateway()
    gateway.forms.answer = formsThat((gets) => gets.map(found))
    const refs = Array.from({ length: maxGets + 2 }, (_, index) => `form-${index}`)

    const answers = await sendTogether(
      gateway,
      refs.map((ref) => () => gateway.send('GET', pathOf(ref))),
    )

    expect(answers.map((answer) => answer.json())).toEqual(refs.map((ref) => ({ together: ref })))
    expect(questions(gateway).map(({ gets }) => gets.length)).toEqual([maxGets, 2])
  })

  it('are followed by one question of those that arrive meanwhile', async () => {
    await using gateway = await startGateway()
    const letGo = Promise.withResolvers<void>()
    const answer = formsThat((gets) => gets.map(found))
    gateway.forms.answer = async (request, reply) => {
      if (questions(gateway).length === 1) await letGo.promise
      return answer(request, reply)
    }
    const first = sendTogether(
      gateway,
      ['a', 'b'].map((ref) => () => gateway.send('GET', pathOf(ref))),
    )
    await expect.poll(() => questions(gateway).length).toBe(1)
    let arrived = 0
    gateway.app.server.on('request', () => arrived++)
    const later = ['c', 'd', 'e'].map((ref) => gateway.send('GET', pathOf(ref)))
    await expect.poll(() => arrived).toBe(3)
    letGo.resolve()

    const answers = await Promise.all([...(await first), ...later])

    expect(answers.map((each) => each.json().together)).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(questions(gateway).map(({ gets }) => gets.map(({ formRef }) => formRef))).toEqual([
      ['a', 'b'],
      ['c', 'd', 'e'],
    ])
    expect((await gateway.send('GET', pathOf('f'))).json()).toEqual({ alone: 'f' })
  })

  it('never lead elsewhere', async () => {
    await using gateway = await startGateway()
    gateway.forms.answer = formsThat((gets) => gets.map(found))

    const answers = await sendTogether(
      gateway,
      ['..%2f..%2fadmin', '%22%0a'].map((ref) => () => gateway.send('GET', pathOf(ref))),
    )

    expect(answers.map((answer) => answer.json())).toEqual([{ together: '______admin' }, { together: '__' }])
  })

  it('of different callers stay apart', async () => {
    await using gateway = await startGateway()
    gateway.forms.answer = formsThat((gets) => gets.map(found))
    const other = { organizationId: randomUUID(), slug: 'other', role: 'viewer' as const }
    const stranger = gateway.directory.key([other])

    const answers = await sendTogether(gateway, [
      () => gateway.send('GET', pathOf('a')),
      () => gateway.send('GET', pathOf('b')),
      () => gateway.send('GET', '/v2/organizations/other/forms/c', { as: stranger }),
      () => gateway.send('GET', '/v2/organizations/other/forms/d', { as: stranger }),
      () => gateway.send('GET', pathOf('e'), { as: stranger }),
    ])

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 404])
    expect(questions(gateway).map(({ gets }) => gets.map(({ formRef }) => formRef))).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ])
  })

  it.each([
    ['an answer for all that is no 200', (): number => 503],
    [
      'no answer for some',
      (gets: Get[]) => gets.map((get) => (get.formRef === 'a' ? found(get) : undefined)),
    ],
  ])('ask each by itself after %s', async (_, together) => {
    await using gateway = await startGateway()
    gateway.forms.answer = formsThat(together)

    const answers = await sendTogether(gateway, [
      () => gateway.send('GET', pathOf('a')),
      () => gateway.send('GET', pathOf('b'), { headers: { 'x-request-id': 'r-b' } }),
    ])

    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(answers[1]!.json()).toEqual({ alone: 'b' })
    const alone = gateway.forms.received.filter(({ url }) => url.endsWith('/forms/b'))
    expect(alone).toMatchObject([{ method: 'GET', headers: { 'x-request-id': 'r-b' } }])
  })

  it('fail together, each under its own id, where forms is away', async () => {
    await using gateway = await startGateway()
    await gateway.forms.stop()

    const answers = await sendTogether(
      gateway,
      ['r-a', 'r-b'].map((id) => () => gateway.send('GET', pathOf('a'), { headers: { 'x-request-id': id } })),
    )

    expect(answers.map(({ status, text }) => [status, text.match(/r-[ab]/)?.[0]])).toEqual([
      [503, 'r-a'],
      [503, 'r-b'],
    ])
  })

  it('leave others alone: a query, a HEAD, a write', async () => {
    await using gateway = await startGateway()
    gateway.forms.answer = ({ method, raw }, reply) =>
      reply.header('x-seen', `${method} ${raw.url}`).send({ seen: method })

    await sendTogether(gateway, [
      () => gateway.send('GET', `${pathOf('a')}?view=full`),
      () => gateway.send('HEAD', pathOf('a')),
      () => gateway.send('DELETE', pathOf('a')),
      () => gateway.send('GET', pathOf('a')),
    ])

    expect(gateway.forms.received.map(({ method }) => method).sort()).toEqual([
      'DELETE',
      'GET',
      'GET',
      'HEAD',
    ])
  })
})
