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

/** The names of the form in its revisions, newest first. */
const publishedNames = async (form: string) => {
  const { body } = await system.call(account, 'GET', `${form}/revisions`)
  return body.revisions.map((revision: { form: { name: string } }) => revision.form.name)
}

/** Publishes until it succeeds: an open circuit lets one request through per second. */
const publishUntilDone = async (form: string) => {
  for (;;) if ((await publish(form)).status === 200) return
}

/** Pauses a process while `work` runs. */
const whilePaused = async (pid: number, work: () => Promise<void>) => {
  process.kill(pid, 'SIGSTOP')
  try {
    await work()
  } finally {
    process.kill(pid, 'SIGCONT')
  }
}

describe('a publish that was rejected or timed out', () => {
  it('does not take effect when a paused NATS resumes, nor does a later edit', async () => {
    const form = await givenForm()
    const other = await givenForm()
    await rename(form, 'Before')

    await whilePaused(system.nats.pid, async () => {
      const responses = await Promise.all([publish(form), publish(form)])
      expect(responses.map(({ status }) => status)).toEqual([503, 503])
      expect((await rename(form, 'Edited')).status).toBe(200)
    })

    // The commands of `form` are before this one in the queue.
    await publishUntilDone(other)
    expect(await publishedNames(form)).toEqual([])
    await publishUntilDone(form)
    expect(await publishedNames(form)).toEqual(['Edited'])
  })

  it('does not take effect when a paused publisher resumes', async () => {
    const form = await givenForm()
    const other = await givenForm()

    await whilePaused(system.processes.get('publisher')!.pid!, async () => {
      const response = await publish(form)
      expect([response.status, response.body.error.details[0].reason]).toEqual([504, 'PUBLISH_TIMEOUT'])
      await rename(form, 'Edited')
    })

    await publishUntilDone(other)
    expect(await publishedNames(form)).toEqual([])
  })
})

describe('a publish while NATS is paused briefly', () => {
  it('succeeds when NATS resumes before the deadline', async () => {
    const form = await givenForm()
    await whilePaused(system.nats.pid, async () => {
      const response = publish(form)
      // Long before the deadline. Until then the command is buffered in the socket.
      setTimeout(() => process.kill(system.nats.pid, 'SIGCONT'), timeoutMs / 4)
      expect((await response).status).toBe(200)
    })
  })
})
