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

const times = <T>(count: number, make: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)))

describe('publishing', () => {
  it('makes 50 revisions of 50 publishes at once, the newest of them live', async () => {
    const form = await createForm()

    const answers = await times(50, () => system.call(account, 'POST', `${form}/publish`))

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    const { revisions, totalSize } = (await system.call(account, 'GET', `${form}/revisions?pageSize=100`))
      .body
    expect(totalSize).toBe(50)
    expect(revisions.map(({ alternateIds }: { alternateIds: string[] }) => alternateIds.length)).toEqual([
      1,
      ...Array(49).fill(0),
    ])
  })

  it('makes one revision of 20 repeats of one requestId at once', async () => {
    const form = await createForm()
    const requestId = randomUUID()

    const answers = await times(20, (index) =>
      system.call(account, 'POST', `${form}/publish`, {
        requestId: index % 2 ? requestId : requestId.toUpperCase(),
      }),
    )

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect((await system.call(account, 'GET', `${form}/revisions`)).body.totalSize).toBe(1)
  })

  it('refuses a requestId that published another form', async () => {
    const [form, other] = [await createForm(), await createForm()]
    const requestId = randomUUID()
    await system.call(account, 'POST', `${form}/publish`, { requestId })

    const answer = await system.call(account, 'POST', `${other}/publish`, { requestId })

    expect(answer.status).toBe(409)
    expect(answer.body.error.details[0].reason).toBe('REQUEST_ID_REUSED')
  })

  it('is not done by a dry run', async () => {
    const form = await createForm()
    const before = (await system.call(account, 'GET', form)).body

    const answer = await system.call(account, 'POST', `${form}/publish`, { validateOnly: true })

    expect(answer.body).toEqual({ ...before, live: true })
    expect(answer.headers.get('etag')).toBeNull()
    expect((await system.call(account, 'GET', form)).body).toEqual(before)
  })

  it('tells all that a draft lacks', async () => {
    const { body } = await system.call(account, 'POST', account.forms, {
      form: { defaultMode: 'voice', i18n: { supportedLocales: ['de'] } },
    })

    const answer = await system.call(account, 'POST', `${account.forms}/${body.publicId}/publish`)

    expect(answer.body.error).toMatchObject({ code: 400, status: 'FAILED_PRECONDITION' })
    const subjects = answer.body.error.details[1].violations.map(
      ({ subject }: { subject: string }) => subject,
    )
    expect(subjects.sort()).toEqual(['form.defaultMode', 'form.i18n.sourceLocale', 'form.steps'])
  })

  it('costs no caller a failure when a publisher is killed with 100 publishes in flight', async () => {
    const forms = await times(100, createForm)

    const answers = times(100, (index) => system.call(account, 'POST', `${forms[index]}/publish`))
    await system.end('publisher', 'SIGKILL')

    expect(new Set((await answers).map(({ status }) => status))).toEqual(new Set([200]))
    const revisions = await times(100, (index) => system.call(account, 'GET', `${forms[index]}/revisions`))
    expect(new Set(revisions.map(({ body }) => body.totalSize))).toEqual(new Set([1]))
    await system.start('publisher')
  })

  it('goes on when the only publisher comes back in time', async () => {
    const form = await createForm()
    await Promise.all([system.end('publisher', 'SIGKILL'), system.end('publisher-2', 'SIGKILL')])

    const answer = system.call(account, 'POST', `${form}/publish`)
    await system.start('publisher-2')

    expect((await answer).status).toBe(200)
    await system.start('publisher')
  })
})
