import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startNatsServer } from '@fms/testkit/nats-server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Client } from './faults/client.ts'
import { createReport, type Outcome } from './faults/report.ts'
import { type Surroundings, startStores } from './faults/surroundings.ts'
import { type System, startSystem } from './system.ts'

/** Minutes of faults; the short form has each fault once. */
const minutes = Number(process.env.FAULT_MINUTES ?? 0)

/** `sqlite` or `mongodb`. */
const store = process.env.FAULT_STORE ?? 'sqlite'

const clientCount = store === 'sqlite' ? 16 : 8

/** How long the load runs before and after a fault, in milliseconds. */
const loadMs = 300

/** A long run goes on after a fault that went wrong, but not for ever. */
const maxDefects = 20

let stores: Surroundings
let system: System
let clients: Client[]
/** Asks whether all works again; it sends nothing else, so that nobody touches its forms meanwhile. */
let probe: Client

beforeAll(async () => {
  stores = await startStores(store)
  const clock = `--import ${join(import.meta.dirname, 'faults/clock.ts')}`
  system = await startSystem({
    publishers: 2,
    // All clients together are faster than any one key may be.
    env: { ...stores.env, RATE_LIMIT_PER_MINUTE: '0', NODE_OPTIONS: clock },
  })
  clients = await Promise.all(
    Array.from({ length: clientCount }, async () => new Client(system, await system.account())),
  )
  probe = new Client(system, await system.account())
})
afterAll(async () => {
  await system[Symbol.asyncDispose]()
  await stores[Symbol.asyncDispose]()
})

interface Fault {
  name: string
  inflict(): Promise<void>
  /** No client notices. */
  isUnnoticed?: boolean
  /** For how long a write that nobody waits for any more may still come to pass, in milliseconds. */
  settleMs?: number
  /** Of the store that only one of them has. */
  of?: 'sqlite' | 'mongodb'
}

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

const setClock = async (name: string, clockOffsetMs: number) => {
  const child = system.processes.get(name)!
  const done = once(child, 'message')
  child.send({ clockOffsetMs })
  await done
}

const hourMs = 3_600_000

const moveClock = (name: string) => async () => {
  for (const offsetMs of [hourMs, -hourMs]) {
    await setClock(name, offsetMs)
    await delay(700)
    await setClock(name, 0)
    await delay(100)
  }
}

/** A file that would grow past `bytes` cannot be written, as on a full disk. */
const limitFiles = (bytes: '0' | 'unlimited') => {
  for (const { pid } of system.processes.values())
    execFileSync('prlimit', ['--pid', `${pid}`, `--fsize=${bytes}:`])
}

const fillDisk = async () => {
  limitFiles('0')
  try {
    expect(await probe.tryCreate()).toMatchObject({
      status: 503,
      body: {
        error: {
          details: expect.arrayContaining([expect.objectContaining({ reason: 'STORE_UNAVAILABLE' })]),
        },
      },
    })
    expect((await probe.tryList())?.status).toBe(200)
    await delay(1_000)
    expect((await probe.tryList())?.status).toBe(200)
  } finally {
    limitFiles('unlimited')
  }
}

const spoilNetwork = (how: 'cut' | 'swallow') => async () => {
  const { network } = stores.mongo!
  network[how]()
  await delay(3_000)
  await network.mend()
}

const allFaults: Fault[] = [
  ...services.map((name) => ({
    name: `kill -9 of ${name}`,
    inflict: kill(name),
    isUnnoticed: name === 'publisher',
  })),
  { name: 'kill -9 of nats-server', inflict: killNats },
  { name: 'kill -9 of everything', inflict: killEverything },
  ...services.map((name) => ({
    name: `3 s standstill of ${name}`,
    inflict: pause(() => system.processes.get(name)?.pid),
    isUnnoticed: name === 'publisher',
  })),
  { name: '3 s standstill of nats-server', inflict: pause(() => system.nats.pid) },
  ...services.map((name) => ({
    name: `clock of ${name} an hour ahead, an hour behind`,
    inflict: moveClock(name),
  })),
  { name: 'full disk under the stores', inflict: fillDisk, of: 'sqlite' },
  ...(process.env.FAULT_MONGODB
    ? [{ name: 'kill -9 of MongoDB', inflict: () => stores.mongo!.killAndRestart!(), of: 'mongodb' as const }]
    : []),
  {
    name: '3 s standstill of MongoDB',
    inflict: pause(() => stores.mongo?.pid),
    of: 'mongodb',
  },
  {
    name: '3 s of refused connections to MongoDB',
    inflict: spoilNetwork('cut'),
    of: 'mongodb',
  },
  {
    name: '3 s of a network to MongoDB that swallows',
    inflict: spoilNetwork('swallow'),
    // Until the driver gives up the last dumb connection (its socketTimeoutMS), and did again what it may.
    settleMs: 11_000,
    of: 'mongodb',
  },
]

const faults = allFaults.filter(({ of = store }) => of === store)

/** What a client may see of a fault: a broken connection, or a word that it shall come again. */
const isOfAFault = (failure: string) => /^(gone|50[34] (?!of no reason))/.test(failure)

describe(`under load from ${clientCount} clients on ${store}`, () => {
  const report = createReport()
  afterAll(() => process.stdout.write(`\n${report.toMarkdown()}\n`))

  /** Does it to all clients and writes down what came of it, also when that throws. */
  const survive = async ({ name, inflict, isUnnoticed = false, settleMs = 0 }: Fault) => {
    const stop = new AbortController()
    const running = Promise.all(clients.map((client) => client.run(stop.signal)))
    // Looked at below; until then it is nobody's.
    running.catch(() => {})
    const outcome: Outcome = { fault: name, tallies: [], verdicts: [], recoveryMs: undefined }
    try {
      try {
        await delay(loadMs)
        await inflict()
        outcome.recoveryMs = await untilItWorks()
        await delay(loadMs)
      } finally {
        stop.abort()
        await running
      }
      await delay(settleMs)
      outcome.verdicts = await Promise.all([...clients, probe].map((client) => client.check()))
    } finally {
      // What the probe was refused is how it finds out.
      probe.takeTally()
      outcome.tallies = clients.map((client) => client.takeTally())
      report.add(outcome)
      if (process.env.FAULT_REPORT) writeFileSync(process.env.FAULT_REPORT, report.toMarkdown())
    }
    const { tallies, verdicts } = outcome
    expect(verdicts.flatMap(({ lost }) => lost)).toEqual([])
    expect(verdicts.flatMap(({ doubled }) => doubled)).toEqual([])
    const failures = tallies.flatMap(({ failures }) => [...failures.keys()])
    expect(failures.filter((failure) => isUnnoticed || !isOfAFault(failure))).toEqual([])
  }

  /** @returns how long it took, in milliseconds. */
  const untilItWorks = async () => {
    const mended = performance.now()
    while (!(await probe.works())) {
      if (performance.now() > mended + 60_000) throw new Error('It does not work again')
      await delay(20)
    }
    return Math.round(performance.now() - mended)
  }

  it.each(faults)('nothing acknowledged is lost or doubled by a $name', survive, 120_000)

  if (minutes > 0) {
    it(
      `nor by all of them in turn for ${minutes} minutes`,
      async () => {
        const defects: unknown[] = []
        const end = performance.now() + minutes * 60_000
        while (performance.now() < end && defects.length < maxDefects)
          for (const fault of faults) await survive(fault).catch((error) => defects.push(error))
        if (defects.length > 0) throw new AggregateError(defects, defects.map(String).join('\n'))
      },
      (minutes + 10) * 60_000,
    )
  }
})
