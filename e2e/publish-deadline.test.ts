import { randomUUID } from 'node:crypto'
import { deadlineHeader, PublishForm, replyInboxHeader } from '@fms/contracts'
import { natsConnectionOptions } from '@fms/service-kit/settings'
import { jetstream } from '@nats-io/jetstream'
import { connect, headers } from 'nats'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { observeVictim } from './neighbours/start-neighbourhood.ts'
import { startVictim, type Victim } from './neighbours/start-victim.ts'
import { type Account, publishable, type System, startSystem } from './system.ts'

/** The timeout of a PubAck: with a longer one, a 503 comes up to 250 ms before the deadline, and the publish may follow. */
const timeoutMs = 2_000

let system: System
let account: Account
/** A caller in another organization. */
let victim: Victim

beforeAll(async () => {
  system = await startSystem({ env: { PUBLISH_TIMEOUT_MS: `${timeoutMs}` } })
  account = await system.account()
  const { apiKey, forms } = await system.account()
  const { body } = await system.call({ apiKey }, 'POST', forms, { form: publishable() })
  victim = startVictim({ url: `${system.baseUrl}${forms}/${body.publicId}`, apiKey })
})
afterAll(async () => {
  victim?.stop()
  await system[Symbol.asyncDispose]()
})

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

/** Does work during which publishes may fail, but no get and no patch. */
const whileOthersWork = async (work: () => Promise<unknown>) => {
  const { failures, requests } = await observeVictim(victim, work)
  expect(failures.filter((failure) => !failure.startsWith('POST '))).toEqual([])
  expect(requests).toBeGreaterThan(0)
}

/** Pauses a process while `work` runs. */
const whilePaused = (pid: number, work: () => Promise<void>) =>
  whileOthersWork(async () => {
    process.kill(pid, 'SIGSTOP')
    try {
      await work()
    } finally {
      process.kill(pid, 'SIGCONT')
    }
  })

/** Sends commands whose deadline has passed. The queue may reject those above its limit. */
const sendExpiredCommands = async (form: string, count: number) => {
  const nats = await connect(natsConnectionOptions(system.nats.urls.gateway))
  const messageHeaders = headers()
  messageHeaders.set(replyInboxHeader, '_INBOX.gateway.unused')
  messageHeaders.set(deadlineHeader, '0')
  const { organizationId, userId } = account
  const command = () =>
    PublishForm.encode({
      commandId: randomUUID(),
      organizationId,
      formRef: form.split('/').at(-1)!,
      userId,
      key: { id: randomUUID(), prefix: 'abcd1234' },
      validateOnly: false,
    })
  const send = () => jetstream(nats).publish(PublishForm.subject, command(), { headers: messageHeaders })
  let stored = 0
  for (let sent = 0; sent < count; sent += 500) {
    const sends = await Promise.allSettled(Array.from({ length: 500 }, send))
    stored += sends.filter(({ status }) => status === 'fulfilled').length
  }
  await nats.close()
  expect(stored).toBeGreaterThan(0)
}

const publisherMetric = async (series: string): Promise<number> => {
  const text = await (await fetch(`${system.urls.publisher}/metrics`)).text()
  const line = text.split('\n').find((each) => each.startsWith(`${series} `))
  return Number(line?.slice(series.length))
}

const queuedCommands = async () => {
  const states = ['pending', 'unacknowledged'].map((state) =>
    publisherMetric(`nats_consumer_messages{stream="PUBLISH",consumer="publisher",state="${state}"}`),
  )
  return (await Promise.all(states)).reduce((sum, messages) => sum + messages)
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

describe('commands in the queue whose deadline has passed', () => {
  it('have no effect, and delay no later publish and nobody else', async () => {
    const form = await givenForm()
    const other = await givenForm()
    await whileOthersWork(async () => {
      await system.end('publisher', 'SIGTERM')
      try {
        await sendExpiredCommands(form, 4_000)
      } finally {
        await system.start('publisher')
      }
      await publishUntilDone(other)
    })

    await vi.waitFor(async () => expect(await queuedCommands()).toBe(0), { timeout: 30_000 })
    expect(await publisherMetric('nats_stream_messages{stream="PUBLISH_DEAD"}')).toBe(0)
    expect(await publishedNames(form)).toEqual([])
  })
})

describe('a publish while NATS is paused briefly', () => {
  it('succeeds when NATS resumes before the deadline', async () => {
    const form = await givenForm()
    await whilePaused(system.nats.pid, async () => {
      const response = publish(form)
      // Long before the deadline. Until then the command is buffered in the socket.
      setTimeout(() => process.kill(system.nats.pid, 'SIGCONT'), timeoutMs / 10)
      expect((await response).status).toBe(200)
    })
  })
})
