import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Client } from './faults/client.ts'
import { EventStream } from './faults/event-stream.ts'
import { createReport, type Outcome } from './faults/report.ts'
import { type FaultStores, startStores } from './faults/start-stores.ts'
import { type System, startSystem } from './system.ts'

/** Duration of a long run in minutes. Default: each fault once. */
const minutes = Number(process.env.FAULT_MINUTES ?? 0)

/** How long NATS is away in the fault of that name. */
const natsOutageSeconds = Number(process.env.FAULT_NATS_OUTAGE_SECONDS ?? 5)

/** `sqlite` or `mongodb`. */
const store = process.env.FAULT_STORE ?? 'sqlite'

/** Names of the faults. Default: all. */
const chosenFaults = new RegExp(process.env.FAULT_NAMES ?? '')

const clientCount = minutes === 0 ? 4 : store === 'sqlite' ? 16 : 8

/** The longest pause of a client between two requests, in milliseconds. A long run sends as many as the system handles. */
const maxThinkMs = minutes > 0 ? 0 : 100

/** How long the load runs before and after a fault, in milliseconds. */
const loadMs = 300

/** A long run continues after a failed fault until this number of failures. */
const maxDefects = 20

const stores: FaultStores = await startStores(store)
let system: System
let clients: Client[]
/** Checks whether the system has recovered. It is not part of the load, so that its forms do not change in between. */
let probe: Client
let eventStream: EventStream

beforeAll(async () => {
  const clock = `--import ${join(import.meta.dirname, 'faults/clock.ts')}`
  system = await startSystem({
    publishers: 2,
    // The clients exceed the default limit.
    env: { ...stores.env, RATE_LIMIT_PER_MINUTE: '0', NODE_OPTIONS: clock },
  })
  clients = await Promise.all(
    Array.from(
      { length: clientCount },
      async () => new Client(system, await system.account({ role: 'owner' })),
    ),
  )
  probe = new Client(system, await system.account({ role: 'owner' }))
  eventStream = await EventStream.open(system.nats.urls.events)
})
afterAll(async () => {
  await eventStream[Symbol.asyncDispose]()
  await system[Symbol.asyncDispose]()
  await stores[Symbol.asyncDispose]()
})

const killMongo = () => stores.mongo!.killAndRestart!()

interface Fault {
  name: string
  trigger(): Promise<void>
  /** Whether no request of a client may fail. */
  isTransparent?: boolean
  /** Checks more after the fault, when no client sends requests any more. */
  afterwards?(): Promise<void>
  /** How long after the fault a write whose caller has given up may still take effect, in milliseconds. */
  settleMs?: number
  /** The only store that has this fault. Default: both. */
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
  await system.nats.restart()
}

const stopNats = async () => {
  await system.nats.stop()
  await delay(natsOutageSeconds * 1_000)
  await system.nats.restart()
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

/** Limits the size of files, so that writes beyond `bytes` fail as on a full disk. */
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

const disturbNetwork = (how: 'cut' | 'stall' | 'loseReplies') => async () => {
  const { network } = stores.mongo!
  network[how]()
  await delay(3_000)
  await network.restore()
}

/** How long a killed client can lock a form: `transactionLifetimeLimitSeconds`, and a second for the engine to end it. */
const maxLockMs = 6_000

let killedAt = 0

/** Kills the services that write when their transactions have written and not committed. */
const killBeforeCommit = async () => {
  const writers = ['forms', 'publisher']
  stores.mongo!.network.dropCommits()
  await delay(500)
  await Promise.all(writers.map((name) => system.end(name, 'SIGKILL')))
  killedAt = performance.now()
  await stores.mongo!.network.restore()
  await Promise.all(writers.map((name) => system.start(name)))
}

/** From then on, every form can be changed again. */
const changeForms = async () => {
  await delay(Math.max(0, killedAt + maxLockMs - performance.now()))
  expect(await Promise.all(clients.map((client) => client.changeForms()))).toEqual(clients.map(() => 0))
}

/** How long the writes of MongoDB keep failing, in steps of {@link failureStepMs}. */
const failureSteps = 30
const failureStepMs = 100
/** Writes that fail in each step. Others succeed in between. */
const failuresPerStep = 5

const failWrites = (failure: Record<string, unknown>) => async () => {
  const fail = stores.mongo!.failWrites!
  for (let step = 0; step < failureSteps; step++) {
    await fail(failuresPerStep, failure)
    await delay(failureStepMs)
  }
  await fail(0, failure)
}

/** Faults of an engine that has failpoints. */
const failPointFaults: Fault[] = [
  {
    name: 'writes of MongoDB that no majority confirms',
    trigger: failWrites({
      writeConcernError: {
        code: 64,
        codeName: 'WriteConcernTimeout',
        errmsg: 'waiting for replication timed out',
        errInfo: { wtimeout: true },
      },
    }),
    of: 'mongodb',
  },
  {
    name: 'connections that MongoDB closes before a write',
    trigger: failWrites({ closeConnection: true }),
    of: 'mongodb',
  },
  {
    name: 'writes that MongoDB refuses as during an election',
    trigger: failWrites({ errorCode: 10107, errorLabels: ['RetryableWriteError'] }),
    of: 'mongodb',
  },
]

const allFaults: Fault[] = [
  ...services.map((name) => ({
    name: `kill -9 of ${name}`,
    trigger: kill(name),
    isTransparent: name === 'publisher',
  })),
  { name: 'kill -9 of nats-server', trigger: killNats },
  { name: `${natsOutageSeconds} s without NATS`, trigger: stopNats },
  { name: 'kill -9 of everything', trigger: killEverything },
  ...services.map((name) => ({
    name: `3 s pause of ${name}`,
    trigger: pause(() => system.processes.get(name)?.pid),
    isTransparent: name === 'publisher',
  })),
  { name: '3 s pause of nats-server', trigger: pause(() => system.nats.pid) },
  ...services.map((name) => ({
    name: `clock of ${name} an hour ahead, an hour behind`,
    trigger: moveClock(name),
  })),
  { name: 'full disk under the stores', trigger: fillDisk, of: 'sqlite' },
  ...(stores.mongo?.killAndRestart
    ? [
        {
          name: 'kill -9 of MongoDB',
          trigger: killMongo,
          settleMs: 6_000,
          of: 'mongodb' as const,
        },
      ]
    : []),
  ...(stores.mongo?.failWrites ? failPointFaults : []),
  {
    name: 'kill -9 of forms and publisher between the writes and the commit of transactions',
    trigger: killBeforeCommit,
    afterwards: changeForms,
    of: 'mongodb',
  },
  {
    name: '3 s pause of MongoDB',
    trigger: pause(() => stores.mongo?.pid),
    of: 'mongodb',
  },
  {
    name: '3 s of refused connections to MongoDB',
    trigger: disturbNetwork('cut'),
    of: 'mongodb',
  },
  {
    name: '3 s of replies of MongoDB that are lost after the work',
    trigger: disturbNetwork('loseReplies'),
    settleMs: 6_000,
    of: 'mongodb',
  },
  {
    name: '3 s of a stalled network to MongoDB',
    trigger: disturbNetwork('stall'),
    // Until the driver closes the last stalled connection (socketTimeoutMS) and has retried what is retryable.
    settleMs: 11_000,
    of: 'mongodb',
  },
]

const faults = allFaults.filter(({ name, of = store }) => of === store && chosenFaults.test(name))

/**
 * Whether a failure is allowed during a fault: a broken connection, or an error that says to retry. On MongoDB, requests that
 * are sent in parallel may lose their races until the deadline when the engine is slow.
 */
const isExpectedFailure = (failure: string) =>
  /^(broken connection|50[34] (?!without a reason))/.test(failure) ||
  (store === 'mongodb' && failure === '409 UPDATE_ABORTED')

describe(`${clientCount} clients on ${store}`, () => {
  const report = createReport()
  afterAll(() => process.stdout.write(`\n${report.toMarkdown()}\n`))

  /** Runs one fault under load and records the outcome, also when it fails. */
  const runFault = async ({ name, trigger, afterwards, isTransparent = false, settleMs = 0 }: Fault) => {
    const stop = new AbortController()
    const running = Promise.all(clients.map((client) => client.run(stop.signal, maxThinkMs)))
    // Awaited below; marks a rejection before that as handled.
    running.catch(() => {})
    const outcome: Outcome = { fault: name, tallies: [], verdicts: [], recoveryMs: undefined }
    try {
      try {
        await delay(loadMs)
        await trigger()
        outcome.recoveryMs = await untilRecovered()
        await delay(loadMs)
      } finally {
        stop.abort()
        await running
      }
      await afterwards?.()
      await delay(settleMs)
      outcome.verdicts = await Promise.all([...clients, probe].map((client) => client.check(eventStream)))
    } finally {
      // Failures of the probe are part of waiting for the recovery.
      probe.takeTally()
      outcome.tallies = clients.map((client) => client.takeTally())
      report.add(outcome)
      if (process.env.FAULT_REPORT) writeFileSync(process.env.FAULT_REPORT, report.toMarkdown())
    }
    const { tallies, verdicts } = outcome
    expect(verdicts.flatMap(({ lost }) => lost)).toEqual([])
    expect(verdicts.flatMap(({ doubled }) => doubled)).toEqual([])
    expect(verdicts.flatMap(({ outOfOrder }) => outOfOrder)).toEqual([])
    const failures = tallies.flatMap(({ failures }) => [...failures.keys()])
    expect(failures.filter((failure) => isTransparent || !isExpectedFailure(failure))).toEqual([])
  }

  /** Waits until every kind of request succeeds. @returns how long it took, in milliseconds. */
  const untilRecovered = async () => {
    const faultEnd = performance.now()
    while (!(await probe.checkAllOperations())) {
      if (performance.now() > faultEnd + 60_000) throw new Error('the system has not recovered after 60 s')
      await delay(20)
    }
    return Math.round(performance.now() - faultEnd)
  }

  it.each(faults)(
    'lose and duplicate no acknowledged write: $name',
    runFault,
    120_000 + natsOutageSeconds * 1_000,
  )

  if (minutes > 0) {
    it(
      `lose and duplicate no acknowledged write in ${minutes} minutes of all faults in turn`,
      async () => {
        const defects: unknown[] = []
        const end = performance.now() + minutes * 60_000
        while (performance.now() < end && defects.length < maxDefects)
          for (const fault of faults) await runFault(fault).catch((error) => defects.push(error))
        if (defects.length > 0) throw new AggregateError(defects, defects.map(String).join('\n'))
      },
      (minutes + 10) * 60_000,
    )
  }
})
