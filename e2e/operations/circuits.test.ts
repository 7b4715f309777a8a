import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Account, type ApiResponse, publishable, type System, startSystem } from '../system.ts'

/** Upper bound of a response that waits for no timeout: half the timeout of a request to a service. */
const immediateMs = 3_000

let system: System
let account: Account
let form: string

beforeAll(async () => {
  // A publish waits until its deadline, set to the timeout of a request to a service.
  system = await startSystem({ env: { RATE_LIMIT_PER_MINUTE: '0', PUBLISH_TIMEOUT_MS: '6000' } })
  account = await system.account()
  const { body } = await system.call(account, 'POST', account.forms, { form: publishable() })
  form = `${account.forms}/${body.publicId}`
})
afterAll(() => system[Symbol.asyncDispose]())

type Timed = ApiResponse & { ms: number }

const timed = async (send: () => Promise<ApiResponse>): Promise<Timed> => {
  const start = performance.now()
  const response = await send()
  return { ...response, ms: performance.now() - start }
}

const getForm = () => timed(() => system.call(account, 'GET', form))
const createForm = () => timed(() => system.call(account, 'POST', account.forms, { form: { name: 'A' } }))
const listOrganizations = () => timed(() => system.call(account, 'GET', '/organizations'))
const publish = () => timed(() => system.call(account, 'POST', `${form}/publish`, {}))

/** Pauses a process until the returned object is disposed. */
const pause = (pid: number | undefined) => {
  process.kill(pid!, 'SIGSTOP')
  return { [Symbol.dispose]: () => void process.kill(pid!, 'SIGCONT') }
}

/** Sends requests, one at a time, until `pending` is settled. @returns every response. */
const sendDuring = async (pending: Promise<unknown>, send: () => Promise<Timed>): Promise<Timed[]> => {
  const responses: Timed[] = []
  let settled = false
  const settle = () => {
    settled = true
  }
  pending.then(settle, settle)
  while (!settled) {
    responses.push(await send())
    await delay(100)
  }
  return responses
}

const reasonOf = ({ body }: ApiResponse) => body.error.details[0].reason

const expectRejected = (response: Timed, reason: string) => {
  expect([response.status, reasonOf(response)]).toEqual([503, reason])
  expect(response.headers.get('retry-after')).toBe('1')
}

/** Sends three requests concurrently, so that at most one of them is a trial request of the circuit, which may wait. */
const expectRejectedImmediately = async (send: () => Promise<Timed>, reason: string) => {
  const responses = await Promise.all([send(), send(), send()])
  for (const response of responses) expectRejected(response, reason)
  expect(responses.filter(({ ms }) => ms < immediateMs).length).toBeGreaterThanOrEqual(2)
}

const expectQuick = (responses: Timed[]) => {
  expect(responses).not.toEqual([])
  expect(responses.filter(({ status }) => status !== 200)).toEqual([])
  expect(Math.max(...responses.map(({ ms }) => ms))).toBeLessThan(immediateMs)
}

const untilWorks = (send: () => Promise<Timed>) =>
  expect.poll(async () => (await send()).status, { timeout: 20_000 }).toBeOneOf([200, 201])

describe('a circuit opens for the duration of a fault', () => {
  it('but not of a locked forms store: writes get its error, and organizations stays fast', async () => {
    {
      using database = new DatabaseSync(join(system.dataDir, 'forms.db'), { timeout: 5_000 })
      database.exec('BEGIN IMMEDIATE')
      const waiting = Promise.all(Array.from({ length: 6 }, createForm))
      const otherResponses = await sendDuring(waiting, listOrganizations)

      for (const response of await waiting) expectRejected(response, 'STORE_UNAVAILABLE')
      expectQuick(otherResponses)
      expect((await getForm()).status).toBe(200)
    }
    await untilWorks(createForm)
  })

  it('of a paused forms service: one caller waits, the next are rejected immediately, and organizations stays fast', async () => {
    {
      using _ = pause(system.processes.get('forms')?.pid)
      const waiting = getForm()
      const otherResponses = await sendDuring(waiting, listOrganizations)

      expectRejected(await waiting, 'UPSTREAM_UNAVAILABLE')
      await expectRejectedImmediately(getForm, 'UPSTREAM_UNAVAILABLE')
      await expectRejectedImmediately(createForm, 'UPSTREAM_UNAVAILABLE')
      expectQuick(otherResponses)
    }
    await untilWorks(getForm)
  })

  it('of paused organizations and NATS: rejects immediately, and forms serves callers with a cached authorization', async () => {
    await getForm()
    {
      using _organizations = pause(system.processes.get('organizations')?.pid)
      using _nats = pause(system.nats.pid)
      const list = listOrganizations()
      const published = publish()
      const publishRejected = published.then(async (response) => {
        expectRejected(response, 'PUBLISHING_UNAVAILABLE')
        await expectRejectedImmediately(publish, 'PUBLISHING_UNAVAILABLE')
      })
      const otherResponses = await sendDuring(Promise.all([list, publishRejected]), getForm)
      // One request waits until the circuit of authorizations opens.
      const slowest = otherResponses.reduce((a, b) => (a.ms > b.ms ? a : b))
      expect(slowest.ms).toBeLessThan(2_000 + immediateMs)

      await publishRejected
      expectRejected(await list, 'UPSTREAM_UNAVAILABLE')
      await expectRejectedImmediately(listOrganizations, 'UPSTREAM_UNAVAILABLE')
      expectQuick(otherResponses.filter((each) => each !== slowest))
    }
    await untilWorks(listOrganizations)
    await untilWorks(publish)
  })

  it('of stopped forms and NATS: rejects immediately, and organizations stays fast', async () => {
    await system.end('forms', 'SIGKILL')
    process.kill(system.nats.pid, 'SIGKILL')
    await system.nats.stop()
    await expect.poll(async () => (await publish()).status).toBe(503)

    const sendRejected = async () => {
      for (let i = 0; i < 5; i++) {
        await expectRejectedImmediately(getForm, 'UPSTREAM_UNAVAILABLE')
        await expectRejectedImmediately(publish, 'PUBLISHING_UNAVAILABLE')
      }
    }
    expectQuick(await sendDuring(sendRejected(), listOrganizations))

    await system.nats.restart()
    await system.start('forms')
    await untilWorks(getForm)
    await untilWorks(publish)
  })

  it('of stopped NATS: a form can be rolled back and taken down', async () => {
    await untilWorks(publish)
    process.kill(system.nats.pid, 'SIGKILL')
    await system.nats.stop()

    try {
      const rolledBack = await system.call(account, 'POST', `${form}/revisions/live/rollback`)
      const unpublished = await system.call(account, 'POST', `${form}/unpublish`, { note: 'Now' })

      expect([rolledBack.status, unpublished.status]).toEqual([200, 200])
      expect(unpublished.body.live).toBe(false)
      expect((await system.call(account, 'GET', `${form}/revisions/live`)).status).toBe(404)
    } finally {
      await system.nats.restart()
      await untilWorks(publish)
    }
  })
})
