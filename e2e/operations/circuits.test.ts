import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { startNatsServer } from '@fms/testkit/nats-server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Account, type Answer, publishable, type System, startSystem } from '../system.ts'

/** Far below any timeout, and far above what a busy machine needs. */
const atOnceMs = 1_000

let system: System
let account: Account
let form: string

beforeAll(async () => {
  // A publish waits until its deadline: as long here as a request to a service that hangs.
  system = await startSystem({ env: { RATE_LIMIT_PER_MINUTE: '0', PUBLISH_TIMEOUT_MS: '6000' } })
  account = await system.account()
  const { body } = await system.call(account, 'POST', account.forms, { form: publishable() })
  form = `${account.forms}/${body.publicId}`
})
afterAll(() => system[Symbol.asyncDispose]())

type Timed = Answer & { ms: number }

const timed = async (ask: () => Promise<Answer>): Promise<Timed> => {
  const start = performance.now()
  const answer = await ask()
  return { ...answer, ms: performance.now() - start }
}

const getForm = () => timed(() => system.call(account, 'GET', form))
const createForm = () => timed(() => system.call(account, 'POST', account.forms, { form: { name: 'A' } }))
const listOrganizations = () => timed(() => system.call(account, 'GET', '/organizations'))
const publish = () => timed(() => system.call(account, 'POST', `${form}/publish`, {}))

/** Halts a process until it is disposed of. */
const halt = (pid: number | undefined) => {
  process.kill(pid!, 'SIGSTOP')
  return { [Symbol.dispose]: () => void process.kill(pid!, 'SIGCONT') }
}

/** Asks again and again until `pending` is settled. @returns every answer. */
const askDuring = async (pending: Promise<unknown>, ask: () => Promise<Timed>): Promise<Timed[]> => {
  const answers: Timed[] = []
  let settled = false
  const settle = () => {
    settled = true
  }
  pending.then(settle, settle)
  while (!settled) {
    answers.push(await ask())
    await delay(20)
  }
  return answers
}

const reasonOf = ({ body }: Answer) => body.error.details[0].reason

const expectRefused = (answer: Timed, reason: string) => {
  expect([answer.status, reasonOf(answer)]).toEqual([503, reason])
  expect(answer.headers.get('retry-after')).toBe('1')
}

/** Several at once, so that all of them come before the circuit tries again. */
const expectRefusedAtOnce = async (ask: () => Promise<Timed>, reason: string) => {
  for (const answer of await Promise.all([ask(), ask(), ask()])) {
    expectRefused(answer, reason)
    expect(answer.ms).toBeLessThan(atOnceMs)
  }
}

const expectQuick = (answers: Timed[]) => {
  expect(answers).not.toEqual([])
  expect(answers.filter(({ status }) => status !== 200)).toEqual([])
  expect(Math.max(...answers.map(({ ms }) => ms))).toBeLessThan(atOnceMs)
}

const untilWorks = (ask: () => Promise<Timed>) =>
  expect.poll(async () => (await ask()).status, { timeout: 20_000 }).toBeOneOf([200, 201])

describe('while it lasts, and by itself no longer', () => {
  // The first, since it takes more failures than successes of the last seconds.
  it("forms' store is locked: after some failures writes are refused at once, and organizations is as quick as ever", async () => {
    {
      using database = new DatabaseSync(join(system.dataDir, 'forms.db'), { timeout: 5_000 })
      database.exec('BEGIN IMMEDIATE')
      const waiting = Promise.all(Array.from({ length: 6 }, createForm))
      const others = await askDuring(waiting, listOrganizations)

      for (const answer of await waiting) expectRefused(answer, 'STORE_UNAVAILABLE')
      await expectRefusedAtOnce(createForm, 'UPSTREAM_UNAVAILABLE')
      expectQuick(others)
    }
    await untilWorks(createForm)
  })

  it('forms hangs: one caller waits, the next are told at once, and organizations is as quick as ever', async () => {
    {
      using _ = halt(system.processes.get('forms')?.pid)
      const waiting = getForm()
      const others = await askDuring(waiting, listOrganizations)

      expectRefused(await waiting, 'UPSTREAM_UNAVAILABLE')
      await expectRefusedAtOnce(getForm, 'UPSTREAM_UNAVAILABLE')
      await expectRefusedAtOnce(createForm, 'UPSTREAM_UNAVAILABLE')
      expectQuick(others)
    }
    await untilWorks(getForm)
  })

  it('organizations and NATS hang: the same, and forms goes on for those who are known', async () => {
    await getForm()
    {
      using _organizations = halt(system.processes.get('organizations')?.pid)
      using _nats = halt(system.nats.pid)
      const list = listOrganizations()
      const published = publish()
      const publishRefused = published.then(async (answer) => {
        expectRefused(answer, 'PUBLISHING_UNAVAILABLE')
        await expectRefusedAtOnce(publish, 'PUBLISHING_UNAVAILABLE')
      })
      const others = await askDuring(Promise.all([list, publishRefused]), getForm)
      // One waits until the gateway knows that nobody tells whose key it is.
      const slowest = others.reduce((a, b) => (a.ms > b.ms ? a : b))
      expect(slowest.ms).toBeLessThan(2_000 + atOnceMs)

      await publishRefused
      expectRefused(await list, 'UPSTREAM_UNAVAILABLE')
      await expectRefusedAtOnce(listOrganizations, 'UPSTREAM_UNAVAILABLE')
      expectQuick(others.filter((each) => each !== slowest))
    }
    await untilWorks(listOrganizations)
    await untilWorks(publish)
  })

  it('forms and NATS are gone: both say so at once, and organizations is as quick as ever', async () => {
    await system.end('forms', 'SIGKILL')
    process.kill(system.nats.pid, 'SIGKILL')
    await system.nats.stop()
    await expect.poll(async () => (await publish()).status).toBe(503)

    const refusals = async () => {
      for (let i = 0; i < 5; i++) {
        await expectRefusedAtOnce(getForm, 'UPSTREAM_UNAVAILABLE')
        await expectRefusedAtOnce(publish, 'PUBLISHING_UNAVAILABLE')
      }
    }
    expectQuick(await askDuring(refusals(), listOrganizations))

    system.nats = await startNatsServer({ dataDir: system.dataDir, port: system.nats.port })
    await system.start('forms')
    await untilWorks(getForm)
    await untilWorks(publish)
  })
})
