import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startNatsServer } from '../scripts/nats-server.ts'
import { Client, type Verdict } from './faults/client.ts'
import { type System, startSystem } from './system.ts'

const clientCount = 16

/** Minutes of faults; the short form has each fault once. */
const minutes = Number(process.env.FAULT_MINUTES ?? 0)

/** How long the load runs before and after a fault, in milliseconds. */
const loadMs = 300

let system: System
let clients: Client[]
/** Asks whether all works again; it sends nothing else, so that nobody touches its forms meanwhile. */
let probe: Client

beforeAll(async () => {
  // Sixteen clients are faster than any one key may be.
  system = await startSystem({ publishers: 2, env: { RATE_LIMIT_PER_MINUTE: '0' } })
  clients = await Promise.all(
    Array.from({ length: clientCount }, async () => new Client(system, await system.account())),
  )
  probe = new Client(system, await system.account())
})
afterAll(() => system[Symbol.asyncDispose]())

const services = ['gateway', 'organizations', 'forms', 'publisher']

const kill = (name: string) => async () => {
  await system.end(name, 'SIGKILL')
  await system.start(name)
}

const pause = (pid: () => number | undefined) => async () => {
  process.kill(pid()!, 'SIGSTOP')
  await delay(3_000)
  process.kill(pid()!, 'SIGCONT')
}

const killNats = async () => {
  process.kill(system.nats.pid, 'SIGKILL')
  await system.nats.stop()
  system.nats = await startNatsServer({ dataDir: system.dataDir, port: system.nats.port })
}

const killEverything = async () => {
  await Promise.all([...system.processes.keys()].map((name) => system.end(name, 'SIGKILL')))
  await killNats()
  await Promise.all([...system.processes.keys()].map((name) => system.start(name)))
}

const faults: [string, () => Promise<void>][] = [
  ...services.map((name): [string, () => Promise<void>] => [`kill -9 of ${name}`, kill(name)]),
  ['kill -9 of nats-server', killNats],
  ['kill -9 of everything', killEverything],
  ...services.map((name): [string, () => Promise<void>] => [
    `3 s standstill of ${name}`,
    pause(() => system.processes.get(name)?.pid),
  ]),
  ['3 s standstill of nats-server', pause(() => system.nats.pid)],
]

describe('under load from 16 clients', () => {
  const report: string[] = []
  afterAll(() => process.stdout.write(`\n${report.join('\n')}\n`))

  const survive = async (name: string, fault: () => Promise<void>) => {
    for (const client of clients) client.tally = { requests: 0, failures: new Map() }
    const stop = new AbortController()
    const running = clients.map((client) => client.run(stop.signal))
    await delay(loadMs)

    await fault()
    const mended = performance.now()
    while (!(await probe.works())) await delay(20)
    const recoverMs = Math.round(performance.now() - mended)
    await delay(loadMs)
    stop.abort()
    await Promise.all(running)

    const verdicts = await Promise.all([...clients, probe].map((client) => client.check()))
    report.push(line(name, recoverMs, verdicts))
    expect(verdicts.flatMap(({ lost }) => lost)).toEqual([])
    expect(verdicts.flatMap(({ doubled }) => doubled)).toEqual([])
  }

  /** One fault's row of the report. */
  const line = (name: string, recoverMs: number, verdicts: Verdict[]): string => {
    const requests = clients.reduce((sum, { tally }) => sum + tally.requests, 0)
    const failures = new Map<string, number>()
    for (const { tally } of clients) {
      for (const [status, count] of tally.failures) failures.set(status, (failures.get(status) ?? 0) + count)
    }
    const failed = [...failures].map(([status, count]) => `${status}: ${count}`).join(', ') || 'none'
    const count = (list: 'lost' | 'doubled') =>
      verdicts.reduce((sum, verdict) => sum + verdict[list].length, 0)
    return `${name.padEnd(34)} requests ${requests}, failed ${failed}, lost ${count('lost')}, doubled ${count('doubled')}, recovered in ${recoverMs} ms`
  }

  it.each(faults)('nothing acknowledged is lost or doubled by a %s', survive, 120_000)

  if (minutes > 0) {
    it(
      `nor by all of them in turn for ${minutes} minutes`,
      async () => {
        const end = Date.now() + minutes * 60_000
        while (Date.now() < end) for (const [name, fault] of faults) await survive(name, fault)
      },
      (minutes + 10) * 60_000,
    )
  }
})
