import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Account, publishable, type System, startSystem } from './system.ts'

const timeoutMs = 1_000

let system: System
let account: Account

beforeAll(async () => {
  system = await startSystem({ env: { PUBLISH_TIMEOUT_MS: `${timeoutMs}` } })
  account = await system.account()
})
afterAll(() => system[Symbol.asyncDispose]())

const givenForm = async () => {
  const { body } = await system.call(account, 'POST', account.forms, { form: publishable() })
  return `${account.forms}/${body.publicId}`
}

const rename = (form: string, name: string) => system.call(account, 'PATCH', form, { form: { name } })

const publish = (form: string) => system.call(account, 'POST', `${form}/publish`)

/** The names that the form was published under, newest first. */
const publishedNames = async (form: string) => {
  const { body } = await system.call(account, 'GET', `${form}/revisions`)
  return body.revisions.map((revision: { form: { name: string } }) => revision.form.name)
}

/** Publishes until it succeeds: a circuit lets a request through every second. */
const publishUntilDone = async (form: string) => {
  for (;;) if ((await publish(form)).status === 200) return
}

/** Stops a process for as long as `work` takes. */
const hung = async (pid: number, work: () => Promise<void>) => {
  process.kill(pid, 'SIGSTOP')
  try {
    await work()
  } finally {
    process.kill(pid, 'SIGCONT')
  }
}

describe('a publish that was refused, or has no answer in time,', () => {
  it('never happens once NATS, which hung, takes its bytes in: nor does what was edited since', async () => {
    const form = await givenForm()
    const other = await givenForm()
    await rename(form, 'Before')

    await hung(system.nats.pid, async () => {
      const answers = await Promise.all([publish(form), publish(form)])
      expect(answers.map(({ status }) => status)).toEqual([503, 503])
      expect((await rename(form, 'Edited')).status).toBe(200)
    })

    // The commands of `form` stand before this one in the queue.
    await publishUntilDone(other)
    expect(await publishedNames(form)).toEqual([])
    await publishUntilDone(form)
    expect(await publishedNames(form)).toEqual(['Edited'])
  })

  it('never happens once a publisher, which hung, goes on', async () => {
    const form = await givenForm()
    const other = await givenForm()

    await hung(system.processes.get('publisher')!.pid!, async () => {
      const answer = await publish(form)
      expect([answer.status, answer.body.error.details[0].reason]).toEqual([504, 'PUBLISH_TIMEOUT'])
      await rename(form, 'Edited')
    })

    await publishUntilDone(other)
    expect(await publishedNames(form)).toEqual([])
  })
})

describe('a publish while NATS hangs for a moment', () => {
  it('succeeds within its deadline once a command can be stored', async () => {
    const form = await givenForm()
    await hung(system.nats.pid, async () => {
      const answer = publish(form)
      // Well within the deadline: the bytes wait in the socket.
      setTimeout(() => process.kill(system.nats.pid, 'SIGCONT'), timeoutMs / 4)
      expect((await answer).status).toBe(200)
    })
  })
})
