import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Account, publishable, type System, startSystem } from './system.ts'

let system: System
let account: Account

beforeAll(async () => {
  system = await startSystem({ publishers: 2 })
  account = await system.account()
})
afterAll(() => system[Symbol.asyncDispose]())

const createForm = async () => {
  const { body } = await system.call(account, 'POST', account.forms, { form: publishable() })
  return `${account.forms}/${body.publicId}`
}

/** Publishes a form. On a slow machine its turn may not come in time, so that it waits again, as a client does. */
const publish = async (form: string): Promise<string> => {
  for (;;) {
    const { status, body } = await system.call(account, 'POST', `${form}/publish`)
    const outcome = status === 200 ? 'published' : body.error.details[0].reason
    if (outcome !== 'OVERLOADED') return outcome
  }
}

const times = <T>(count: number, make: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)))

describe('publishing', () => {
  it('creates 50 revisions for 50 concurrent publishes, the newest of them live', async () => {
    const form = await createForm()

    const outcomes = await times(50, () => publish(form))

    expect(new Set(outcomes)).toEqual(new Set(['published']))
    const { revisions, totalSize } = (await system.call(account, 'GET', `${form}/revisions?pageSize=100`))
      .body
    expect(totalSize).toBe(50)
    expect(revisions.map(({ alternateIds }: { alternateIds: string[] }) => alternateIds.length)).toEqual([
      1,
      ...Array(49).fill(0),
    ])
  })

  it('creates one revision for 20 concurrent requests with the same requestId', async () => {
    const form = await createForm()
    const requestId = randomUUID()

    const responses = await times(20, (index) =>
      system.call(account, 'POST', `${form}/publish`, {
        requestId: index % 2 ? requestId : requestId.toUpperCase(),
      }),
    )

    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]))
    expect((await system.call(account, 'GET', `${form}/revisions`)).body.totalSize).toBe(1)
  })

  it('rejects a requestId that published another form', async () => {
    const [form, other] = [await createForm(), await createForm()]
    const requestId = randomUUID()
    await system.call(account, 'POST', `${form}/publish`, { requestId })

    const response = await system.call(account, 'POST', `${other}/publish`, { requestId })

    expect(response.status).toBe(409)
    expect(response.body.error.details[0].reason).toBe('REQUEST_ID_REUSED')
  })

  it('changes nothing in a dry run', async () => {
    const form = await createForm()
    const before = (await system.call(account, 'GET', form)).body

    const response = await system.call(account, 'POST', `${form}/publish`, { validateOnly: true })

    expect(response.body).toEqual({ ...before, live: true })
    expect(response.headers.get('etag')).toBeNull()
    expect((await system.call(account, 'GET', form)).body).toEqual(before)
  })

  it('reports every violation of a draft', async () => {
    const { body } = await system.call(account, 'POST', account.forms, {
      form: { defaultMode: 'voice', i18n: { supportedLocales: ['de'] } },
    })

    const response = await system.call(account, 'POST', `${account.forms}/${body.publicId}/publish`)

    expect(response.body.error).toMatchObject({ code: 400, status: 'FAILED_PRECONDITION' })
    const subjects = response.body.error.details[1].violations.map(
      ({ subject }: { subject: string }) => subject,
    )
    expect(subjects.sort()).toEqual(['form.defaultMode', 'form.i18n.sourceLocale', 'form.steps'])
  })

  it('fails no request when a publisher is killed with 100 publishes in flight', async () => {
    const forms = await times(100, createForm)

    const outcomes = times(100, (index) => publish(forms[index]!))
    await system.end('publisher', 'SIGKILL')

    expect(new Set(await outcomes)).toEqual(new Set(['published']))
    const revisions = await times(100, (index) => system.call(account, 'GET', `${forms[index]}/revisions`))
    expect(new Set(revisions.map(({ body }) => body.totalSize))).toEqual(new Set([1]))
    await system.start('publisher')
  })

  it('succeeds when the only publisher restarts before the deadline', async () => {
    const form = await createForm()
    await Promise.all([system.end('publisher', 'SIGKILL'), system.end('publisher-2', 'SIGKILL')])

    const response = system.call(account, 'POST', `${form}/publish`)
    await system.start('publisher-2')

    expect((await response).status).toBe(200)
    await system.start('publisher')
  })
})
