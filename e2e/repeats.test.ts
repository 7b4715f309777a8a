import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Account, type ApiResponse, publishable, type System, startSystem } from './system.ts'

let system: System
let account: Account

beforeAll(async () => {
  system = await startSystem()
  account = await system.account()
})
afterAll(() => system[Symbol.asyncDispose]())

/** Sends a request until it gets a response other than 503, as a client does whose requests get lost. */
const sendUntilDone = async (send: () => Promise<ApiResponse>): Promise<ApiResponse> => {
  let last = await send()
  await expect
    .poll(
      async () => {
        if (last.status === 503) last = await send()
        return last.status
      },
      { interval: 100 },
    )
    .not.toBe(503)
  return last
}

const eventsOf = async (form: string) =>
  (await system.call(account, 'GET', `/organizations/${account.slug}/events?pageSize=1000`)).body.events
    .filter(({ subject }: { subject: string }) => subject === form)
    .map(({ type }: { type: string }) => type)

describe('20 concurrent creates with the same requestId', () => {
  const twenty = (send: (index: number) => Promise<ApiResponse>) =>
    Array.from({ length: 20 }, (_, index) => send(index))

  /** Sends them, maybe repeatedly. @param form distinguishes the forms of the test. */
  const creates = (form: object) => {
    const requestId = randomUUID()
    return twenty((index) =>
      sendUntilDone(() =>
        system.call(account, 'POST', account.forms, {
          form,
          requestId: index % 2 ? requestId : requestId.toUpperCase(),
        }),
      ),
    )
  }

  const expectOneForm = async (name: string, responses: ApiResponse[]) => {
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]))
    const filter = encodeURIComponent(`name = "${name}"`)
    const { forms, totalSize } = (await system.call(account, 'GET', `${account.forms}?filter=${filter}`)).body
    expect(totalSize).toBe(1)
    expect(new Set(responses.map(({ body }) => JSON.stringify(body))).size).toBe(1)
    expect(responses[0]!.body).toEqual(forms[0])
    await expect.poll(() => eventsOf(forms[0].path)).toEqual(['form.created'])
  }

  it('create one form', async () => {
    const responses = await Promise.all(creates({ name: 'One of twenty' }))

    await expectOneForm('One of twenty', responses)
    expect(responses.filter(({ headers }) => headers.get('x-request-replayed') === 'true')).toHaveLength(19)
  })

  it.each([0, 1, 10])('create one form when forms is killed after %i responses', async (count) => {
    const name = `Killed after ${count}`
    let received = 0
    const killed = Promise.withResolvers<void>()
    const sent = creates(publishable({ name })).map(async (response) => {
      await response
      received++
      if (received === count) killed.resolve()
      return response
    })
    if (count === 0) killed.resolve()
    await killed.promise
    await system.end('forms', 'SIGKILL')
    await system.start('forms')

    await expectOneForm(name, await Promise.all(sent))
  })
})

describe('a repeat of each change through the gateway', () => {
  it('happens once, and says so', async () => {
    const owner = await system.account({ role: 'owner', in: account })
    const created = await system.call(account, 'POST', account.forms, { form: publishable() })
    const form = `${account.forms}/${created.body.publicId}`
    const deletedForm = form.replace('/forms/', '/deletedForms/')
    await system.call(account, 'POST', `${form}/publish`)
    const changes: [method: string, path: string, body?: object][] = [
      ['PATCH', form, { form: { name: 'Repeated' } }],
      ['POST', `${form}/revisions/live/rollback`],
      ['POST', `${form}/unpublish`],
      ['DELETE', form],
      ['POST', `${deletedForm}/undelete`],
      ['DELETE', form],
      ['DELETE', deletedForm],
    ]

    for (const [method, path, body] of changes) {
      const request = { ...body, requestId: randomUUID() }
      const [first, second] = [
        await system.call(owner, method, path, request),
        await system.call(owner, method, path, request),
      ]
      const replayed = [first, second].map(({ headers }) => headers.get('x-request-replayed'))
      expect([method, path, first.status, second.status, ...replayed]).toEqual([
        method,
        path,
        200,
        200,
        null,
        'true',
      ])
      expect(second.body).toEqual(first.body)
      const reused = await system.call(
        owner,
        method,
        path.replace(/(orms\/)\w+/, `$1${randomUUID()}`),
        request,
      )
      expect([reused.status, reused.body.error.details[0].reason]).toEqual([409, 'REQUEST_ID_REUSED'])
    }
    await expect
      .poll(() => eventsOf(created.body.path))
      .toEqual([
        'form.created',
        'form.published',
        'form.updated',
        'form.rolledBack',
        'form.unpublished',
        'form.deleted',
        'form.undeleted',
        'form.deleted',
        'form.purged',
      ])
  })
})
