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

/** Sends a request. On a slow machine its turn may not come in time: then it waits again, as clients do. */
const call = async (method: string, path: string, body?: unknown) => {
  for (;;) {
    const response = await system.call(account, method, path, body)
    if (response.status !== 503 || response.body.error.details[0].reason !== 'OVERLOADED') return response
  }
}

const createForm = async () => {
  const { body } = await call('POST', account.forms, { form: publishable() })
  return `${account.forms}/${body.publicId}`
}

const times = <T>(count: number, make: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)))

describe('publishing', () => {
  it('creates 50 revisions for 50 concurrent publishes, the newest of them live', async () => {
    const form = await createForm()

    const responses = await times(50, () => call('POST', `${form}/publish`))

    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]))
    const { revisions, totalSize } = (await call('GET', `${form}/revisions?pageSize=100`)).body
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
      call('POST', `${form}/publish`, {
        requestId: index % 2 ? requestId : requestId.toUpperCase(),
      }),
    )

    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]))
    expect((await call('GET', `${form}/revisions`)).body.totalSize).toBe(1)
  })

  it('rejects a requestId that published another form', async () => {
    const [form, other] = [await createForm(), await createForm()]
    const requestId = randomUUID()
    await call('POST', `${form}/publish`, { requestId })

    const response = await call('POST', `${other}/publish`, { requestId })

    expect(response.status).toBe(409)
    expect(response.body.error.details[0].reason).toBe('REQUEST_ID_REUSED')
  })

  it('changes nothing in a dry run', async () => {
    const form = await createForm()
    const before = (await call('GET', form)).body

    const response = await call('POST', `${form}/publish`, { validateOnly: true })

    expect(response.body).toEqual({ ...before, live: true })
    expect(response.headers.get('etag')).toBeNull()
    expect((await call('GET', form)).body).toEqual(before)
  })

  it('reports every violation of a draft', async () => {
    const { body } = await call('POST', account.forms, {
      form: { defaultMode: 'voice', i18n: { supportedLocales: ['de'] } },
    })

    const response = await call('POST', `${account.forms}/${body.publicId}/publish`)

    expect(response.body.error).toMatchObject({ code: 400, status: 'FAILED_PRECONDITION' })
    const subjects = response.body.error.details[1].violations.map(
      ({ subject }: { subject: string }) => subject,
    )
    expect(subjects.sort()).toEqual(['form.defaultMode', 'form.i18n.sourceLocale', 'form.steps'])
  })

  it('fails no request when a publisher is killed with 100 publishes in flight', async () => {
    const forms = await times(100, createForm)

    const responses = times(100, (index) => call('POST', `${forms[index]}/publish`))
    await system.end('publisher', 'SIGKILL')

    expect(new Set((await responses).map(({ status }) => status))).toEqual(new Set([200]))
    const revisions = await times(100, (index) => call('GET', `${forms[index]}/revisions`))
    expect(new Set(revisions.map(({ body }) => body.totalSize))).toEqual(new Set([1]))
    await system.start('publisher')
  })

  it('succeeds when the only publisher restarts before the deadline', async () => {
    const form = await createForm()
    await Promise.all([system.end('publisher', 'SIGKILL'), system.end('publisher-2', 'SIGKILL')])

    const response = call('POST', `${form}/publish`)
    await system.start('publisher-2')

    expect((await response).status).toBe(200)
    await system.start('publisher')
  })
})
