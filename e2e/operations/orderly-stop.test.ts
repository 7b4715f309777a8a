import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Account, publishable, type System, startSystem } from '../system.ts'

/** `stop_grace_period` of docker-compose.yml, after which Docker kills a process. */
const stopTimeoutMs = 20_000

let system: System
let account: Account

beforeAll(async () => {
  system = await startSystem({ publishers: 2, env: { DRAIN_MS: '500' } })
  account = await system.account()
})
afterAll(() => system[Symbol.asyncDispose]())

/** Sends SIGTERM and runs `meanwhile` while the process stops. @returns how the process exited. */
const stop = async (name: string, meanwhile: () => Promise<void> = async () => {}) => {
  const startedAt = performance.now()
  const ended = system.end(name, 'SIGTERM')
  await meanwhile()
  await ended
  return { code: system.processes.get(name)!.exitCode, inTime: performance.now() - startedAt < stopTimeoutMs }
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

/** Two idle connections: one after a response, and one without any request. */
const openIdle = async (name: string): Promise<Socket[]> => {
  const used = await open(name)
  used.write(head('GET', '/healthz', {}))
  await once(used, 'data')
  const idle = [used.resume(), (await open(name)).resume()]
  // The service may reset them.
  for (const socket of idle) socket.on('error', () => {})
  return idle
}

const requestsInFlight = async (name: string): Promise<number> => {
  const metrics = await fetch(`${system.urls[name]}/metrics`).then((response) => response.text())
  return Number(/^http_requests_in_flight (\d+)$/m.exec(metrics)?.[1])
}

/** Waits until `count` requests are in flight besides the request for metrics. */
const untilInFlight = (name: string, count: number) =>
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

const statusesOf = async (responses: ReturnType<typeof publishAll>) => [
  ...new Set((await Promise.all(responses)).map(({ status }) => status)),
]

describe('a service that receives SIGTERM', () => {
  it('finishes requests in flight: publishes of the gateway, and a request whose body is incomplete', async () => {
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
    await untilInFlight('gateway', publicIds.length + 1)

    const end = await stop('gateway', async () => {
      await Promise.all(idle.map((socket) => once(socket, 'close')))
      for (const publisher of publishers) publisher.kill('SIGCONT')
      slow.write(body.slice(10))
    })

    expect(await statusesOf(published)).toEqual([200])
    const response = await text(slow)
    expect(response).toMatch(/^HTTP\/1.1 200 /)
    expect(response).toContain('"Slow"')
    expect(end).toEqual(orderly)
    await system.start('gateway')
  })

  it.each(['organizations', 'forms'])('closes idle connections of %s without waiting', async (name) => {
    await openIdle(name)
    expect(await stop(name)).toEqual(orderly)
    await system.start(name)
  })

  it('fails no publish when it is a publisher', async () => {
    const publicIds = await createForms(100)
    const published = publishAll(publicIds)
    await Promise.race(published)

    expect(await stop('publisher')).toEqual(orderly)

    expect(await statusesOf(published)).toEqual([200])
    await system.start('publisher')
  })

  it('responds to each request while a store is locked, to a publish before its deadline', async () => {
    const [publicId] = await createForms(1)
    const form = `${account.forms}/${publicId}`
    using store = new DatabaseSync(join(system.dataDir, 'forms.db'), { timeout: 5_000 })
    store.exec('BEGIN IMMEDIATE')
    const responses = [
      system.call(account, 'POST', `${form}/publish`),
      system.call(account, 'PATCH', form, { form: { tone: 'calm' } }),
    ]
    await untilInFlight('gateway', responses.length)

    const ends = await Promise.all(['gateway', 'forms', 'publisher', 'publisher-2'].map((name) => stop(name)))

    expect(ends).toEqual(Array(4).fill(orderly))
    const reasons = (await Promise.all(responses)).map(({ body }) => body.error.details[0].reason)
    expect(reasons).toEqual(['PUBLISHING_UNAVAILABLE', 'STORE_UNAVAILABLE'])
  })
})
