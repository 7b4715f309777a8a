import { setTimeout as delay } from 'node:timers/promises'
import type { NatsServer } from '@fms/testkit/nats-server'
import { expect, vi } from 'vitest'
import { Client } from '../faults/client.ts'
import type { Balancer } from '../operations/rolling/balancer.ts'
import { type Account, publishable } from '../system.ts'
import { recordReplies } from './record-replies.ts'

const clientCount = 3

/** Pause before each request of a client, in milliseconds: most of the test waits for connections to end. */
const pauseMs = 50

/** Requests of each client in every state of the system. */
const requestsPerState = 5

/** Clients with an organization each, and respondents who reply to a form. Disposing ends them. */
export interface Load extends AsyncDisposable {
  /** Resolves once every client has sent some more requests. @throws {Error} for a request that failed. */
  progress(): Promise<void>
  /** Pauses the load until the next `check`. */
  pause(): Promise<void>
  /** Records replies alone while `work` runs. Only while the load is paused. */
  replyDuring(work: () => Promise<void>): Promise<void>
  /**
   * Pauses the load, compares every acknowledged change with the system, and continues the load.
   *
   * @throws {Error} for a change that is missing or was made twice, and for a request that failed.
   */
  check(): Promise<void>
}

/** A run of the load between two checks. */
interface Run {
  stop: AbortController
  clients: Promise<unknown>
  /** Number of recorded replies. */
  replies: Promise<number>
}

export const startLoad = async (
  balancer: Balancer,
  nats: NatsServer,
  newOrganization: () => Promise<Account>,
): Promise<Load> => {
  const call: Balancer['call'] = async (...request) => {
    await delay(pauseMs)
    return balancer.call(...request)
  }
  const clients = await Promise.all(
    Array.from(
      { length: clientCount },
      async () => new Client({ call }, await newOrganization(), 'of release 0.1.0'),
    ),
  )
  const owner = await newOrganization()
  const { path, publicId } = (await call(owner, 'POST', owner.forms, { form: publishable() })).body
  const [, organizationId, , formId] = path.split('/')
  let recorded = 0

  const reply = (signal: AbortSignal) => recordReplies(nats.urls.replies, { organizationId, formId }, signal)
  const start = (): Run => {
    const stop = new AbortController()
    const running = Promise.all(clients.map((client) => client.run(stop.signal)))
    const replies = reply(stop.signal)
    // `pause` awaits both; this marks a rejection before that as handled.
    for (const each of [running, replies]) each.catch(() => {})
    return { stop, clients: running, replies }
  }
  let run: Run | undefined = start()

  const pause = async () => {
    const paused = run
    run = undefined
    paused?.stop.abort()
    await paused?.clients
    recorded += (await paused?.replies) ?? 0
  }
  const assertNoFailure = () => expect(clients.flatMap(({ tally }) => [...tally.failures])).toEqual([])

  return {
    progress: async () => {
      const goals = clients.map(({ tally }) => tally.requests + requestsPerState)
      await vi.waitUntil(
        () => {
          assertNoFailure()
          return clients.every(({ tally }, index) => tally.requests >= goals[index]!)
        },
        { timeout: 30_000, interval: 20 },
      )
    },
    pause,
    replyDuring: async (work) => {
      const stop = new AbortController()
      const replies = reply(stop.signal)
      await work().finally(() => stop.abort())
      recorded += await replies
    },
    check: async () => {
      await pause()
      assertNoFailure()
      const verdicts = await Promise.all(clients.map((client) => client.check()))
      expect(verdicts.flatMap(({ lost, doubled }) => [...lost, ...doubled])).toEqual([])
      await vi.waitUntil(
        async () => (await call(owner, 'GET', `${owner.forms}/${publicId}`)).body.replyCount === recorded,
        { timeout: 10_000 },
      )
      run = start()
    },
    [Symbol.asyncDispose]: async () => {
      run?.stop.abort()
      await Promise.allSettled([run?.clients, run?.replies])
    },
  }
}
