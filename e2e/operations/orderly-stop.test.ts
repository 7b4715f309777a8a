import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Account, publishable, type System, startSystem } from '../system.ts'

/** Docker's own patience, after which a process is killed. */
const patienceMs = 10_000

let system: System
let account: Account

beforeAll(async () => {
  system = await startSystem({ publishers: 2, env: { DRAIN_MS: '500' } })
  account = await system.account()
})
afterAll(() => system[Symbol.asyncDispose]())

/** Sends SIGTERM, does what is to be done meanwhile, and says how the process ended. */
const stop = async (name: string, meanwhile: () => Promise<void> = async () => {}) => {
  const startedAt = performance.now()
  const ended = system.end(name, 'SIGTERM')
  await meanwhile()
  await ended
  return { code: system.processes.get(name)!.exitCode, inTime: performance.now() - startedAt < patienceMs }
}

const orderly = { code: 0, inTime: true }

const open = async (name: string): Promise<Socket> => {
  const socket = connect(Number(new URL(system.urls[name]!).port), '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

const head = (method: string, path: string, headers: Record<string, string>) =>
  [`${method} ${path} HTTP/1.1`, 'Host: forms', ...Object.entries(headers).map((pair) => pair.join(': '))]
    .map((line) => `${line}\r\n`)
    .join('')
    .concat('\r\n')

/** A connection that had an answer and waits for its next request, and one that never had any. */
const openIdle = async (name: string): Promise<Socket[]> => {
  const used = await open(name)
  used.write(head('GET', '/healthz', {}))
  await once(used, 'data')
  const idle = [used.resume(), (await open(name)).resume()]
  // Whoever ends them may do it as it likes.
  for (const socket of idle) socket.on('error', () => {})
  return idle
}

const requestsInFlight = async (name: string): Promise<number> => {
  const metrics = await fetch(`${system.urls[name]}/metrics`).then((response) => response.text())
  return Number(/^http_requests_in_flight (\d+)$/m.exec(metrics)?.[1])
}

/** Resolves once so many requests are under way, the one that asks aside. */
const underWay = (name: string, count: number) =>
  vi.waitUntil(async () => (await requestsInFlight(name)) > count, { timeout: 10_000, interval: 20 })

const createForms = (count: number) =>
  Promise.all(
    Array.from(
      { length: count },
      async () => (await system.call(account, 'POST', account.forms, { form: publishable() })).body.publicId,
    ),
  )

const publishAll = (publicIds: string[]) =>
  publicIds.map((publicId) => system.call(account, 'POST', `${account.forms}/${publicId}/publish`))

const statusesOf = async (answers: ReturnType<typeof publishAll>) => [
  ...new Set((await Promise.all(answers)).map(({ status }) => status)),
]

describe('a service that is told to stop', () => {
  it('answers what it has begun: the gateway publishes, and a request that is still arriving', async () => {
    const publicIds = await createForms(20)
    const idle = await openIdle('gateway')
    const slow = await open('gateway')
    const body = JSON.stringify({ form: publishable({ name: 'Slow' }) })
    const publishers = ['publisher', 'publisher-2'].map((name) => system.processes.get(name)!)
    for (const publisher of publishers) publisher.kill('SIGSTOP')
    const published = publishAll(publicIds)
    slow.write(
      head('POST', `/v2${account.forms}`, {
        'X-API-Key': account.apiKey,
        'Content-Type': 'application/json',
        'Content-Length': `${body.length}`,
      }) + body.slice(0, 10),
    )
    await underWay('gateway', publicIds.length + 1)

    const end = await stop('gateway', async () => {
      await Promise.all(idle.map((socket) => once(socket, 'close')))
      for (const publisher of publishers) publisher.kill('SIGCONT')
      slow.write(body.slice(10))
    })

    expect(await statusesOf(published)).toEqual([200])
    const answer = await text(slow)
    expect(answer).toMatch(/^HTTP\/1.1 200 /)
    expect(answer).toContain('"Slow"')
    expect(end).toEqual(orderly)
    await system.start('gateway')
  })

  it.each(['organizations', 'forms'])('%s waits for no idle connection', async (name) => {
    await openIdle(name)
    expect(await stop(name)).toEqual(orderly)
    await system.start(name)
  })

  it('a publisher fails no publish, whether it has begun with it or not', async () => {
    const publicIds = await createForms(100)
    const published = publishAll(publicIds)
    await Promise.race(published)

    expect(await stop('publisher')).toEqual(orderly)

    expect(await statusesOf(published)).toEqual([200])
  })
})
