import { execFileSync } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { type FormsStore, openFormsStore } from '@fms/forms-store'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startNatsServer } from '../scripts/nats-server.ts'
import { Client } from './faults/client.ts'
import { createReport } from './faults/report.ts'
import { startTcpGate, type TcpGate } from './faults/tcp-gate.ts'
import { type System, startSystem } from './system.ts'

const clientCount = 16

/** Minutes of faults; the short form has each fault once. */
const minutes = Number(process.env.FAULT_MINUTES ?? 0)

if (process.env.FAULT_STORE) process.env.E2E_STORE = process.env.FAULT_STORE
const onMongo = process.env.E2E_STORE === 'mongodb'

/** How long the load runs before and after a fault, in milliseconds. */
const loadMs = 300

/** How long a standstill, or a connection that is cut, lasts; far below what a publish waits. */
const faultMs = 3_000

const hourMs = 60 * 60 * 1000

let system: System
let store: FormsStore
/** Between the services and MongoDB. */
let gate: TcpGate | undefined

const throughGate = async (storeUrl: string) => {
  const url = new URL(storeUrl)
  gate = await startTcpGate(url.hostname, Number(url.port))
  url.host = `127.0.0.1:${gate.port}`
  return url.href
}

beforeAll(async () => {
  system = await startSystem({
    publishers: 2,
    // Sixteen clients are faster than any one key may be.
    env: { RATE_LIMIT_PER_MINUTE: '0', LOG_LEVEL: 'fatal' },
    imports: [`${import.meta.dirname}/faults/clock.ts`],
    between: throughGate,
  })
  store = await openFormsStore(system.formsStoreUrl)
})
afterAll(async () => {
  await store?.close()
  await system?.[Symbol.asyncDispose]()
  await gate?.[Symbol.asyncDispose]()
})

type Clients = () => Promise<Client>

interface Fault {
  name: string
  /** @param client makes another client, for what the fault itself wants to see. */
  happen(client: Clients): Promise<void>
  /** Requests that no client may see fail: by kind, or `all`. */
  spares?: 'publish' | 'all'
}

const services = ['gateway', 'organizations', 'forms', 'publisher']

const kill = (name: string): Fault => ({
  name: `kill -9 of ${name}`,
  async happen() {
    await system.end(name, 'SIGKILL')
    await system.start(name)
  },
  ...(name === 'publisher' && { spares: 'publish' }),
})

const pause = (name: string, pid: () => number | undefined): Fault => ({
  name: `3 s standstill of ${name}`,
  async happen() {
    process.kill(pid()!, 'SIGSTOP')
    await delay(faultMs)
    process.kill(pid()!, 'SIGCONT')
  },
  ...(name === 'publisher' && { spares: 'publish' }),
})

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

/** A clock that jumps, stays wrong for a second, and jumps back. */
const clock = (names: string[], called: string, shiftMs: number, spares?: Fault['spares']): Fault => {
  const shift = (clockShiftMs: number) => {
    for (const name of names) system.processes.get(name)!.send({ clockShiftMs })
  }
  return {
    name: `clock of ${called} an hour ${shiftMs > 0 ? 'ahead' : 'behind'}`,
    async happen() {
      shift(shiftMs)
      await delay(1_000)
      shift(0)
    },
    ...(spares && { spares }),
  }
}

/** No file of these processes may grow, which is what a full disk does to them. */
const fullDisk: Fault = {
  name: 'no room on the disk of the stores',
  async happen(client) {
    const pids = [...system.processes].filter(([name]) => name !== 'gateway').map(([, { pid }]) => `${pid}`)
    const limit = (bytes: string) => {
      for (const pid of pids) execFileSync('prlimit', ['--pid', pid, `--fsize=${bytes}:`])
    }
    const someone = await client()
    expect(await someone.works()).toBe(true)
    limit('1')
    try {
      expect(await someone.attempt('create')).toEqual({ status: 503, reason: 'STORE_UNAVAILABLE' })
      expect(await someone.attempt('patch')).toEqual({ status: 503, reason: 'STORE_UNAVAILABLE' })
      expect(await someone.attempt('read')).toEqual({ status: 200 })
      expect(await someone.attempt('list')).toEqual({ status: 200 })
      await delay(500)
    } finally {
      limit('unlimited')
    }
  },
}

const engineFaults: Fault[] = [
  pause('MongoDB', () => system.enginePid),
  {
    name: 'MongoDB refuses connections for 3 s',
    async happen() {
      await gate!.refuse()
      await delay(faultMs)
      await gate!.open()
    },
  },
  {
    name: 'MongoDB is out of reach for 3 s, connections stay',
    async happen() {
      gate!.swallow()
      await delay(faultMs)
      await gate!.open()
    },
  },
]

const processFaults: Fault[] = [
  ...services.map(kill),
  { name: 'kill -9 of nats-server', happen: killNats },
  { name: 'kill -9 of everything', happen: killEverything },
  ...services.map((name) => pause(name, () => system.processes.get(name)?.pid)),
  pause('nats-server', () => system.nats.pid),
]

const hasPrlimit = (() => {
  try {
    execFileSync('prlimit', ['--version'])
    return true
  } catch {
    return false
  }
})()

const everyProcess = [...services, 'publisher-2']
const ahead = hourMs
const behind = -hourMs

const everyClockFault: Fault[] = [
  // A gateway that is behind signs what is over for the others, which then refuse it.
  clock(['gateway'], 'the gateway', ahead, 'all'),
  clock(['gateway'], 'the gateway', behind),
  clock(['organizations'], 'organizations', ahead),
  clock(['organizations'], 'organizations', behind, 'all'),
  clock(['forms'], 'forms', ahead, 'publish'),
  clock(['forms'], 'forms', behind, 'all'),
  clock(['publisher', 'publisher-2'], 'the publishers', ahead, 'all'),
  clock(['publisher', 'publisher-2'], 'the publishers', behind, 'all'),
  clock(everyProcess, 'everything', ahead),
  clock(everyProcess, 'everything', behind),
]

/** Those that something could fail by, or did once. */
const tellingClockFaults = everyClockFault.filter(({ name }) =>
  /gateway an hour behind|forms an hour ahead|publishers an hour ahead|everything/.test(name),
)

const embeddedFaults = [...processFaults, ...(hasPrlimit ? [fullDisk] : [])]
const faults = onMongo ? engineFaults : [...embeddedFaults, ...tellingClockFaults]
/** In the long form MongoDB's stores go through everything, too. */
const everyFault = [...(onMongo ? [...engineFaults, ...processFaults] : embeddedFaults), ...everyClockFault]

describe('under load from 16 clients', () => {
  const report = createReport()
  afterAll(() => {
    process.stdout.write(`\n${report.text()}\n`)
    if (process.env.FAULT_REPORT) report.write(process.env.FAULT_REPORT)
  })

  const survive = async ({ name, happen, spares }: Fault) => {
    // Each fault has organizations of its own, so that lists hold what its journals tell, and nothing else.
    const witnesses: Client[] = []
    const newClient = async () => new Client(system, await system.account())
    const newWitness = async () => {
      const witness = await newClient()
      witnesses.push(witness)
      return witness
    }
    const clients = await Promise.all(Array.from({ length: clientCount }, newClient))
    // Asks whether all works again, and touches nobody's forms meanwhile.
    const probe = await newWitness()

    const stop = new AbortController()
    const running = clients.map((client) => client.run(stop.signal))
    await delay(loadMs)
    await happen(newWitness)
    const mended = performance.now()
    while (!(await probe.works())) await delay(20)
    const recoverMs = Math.round(performance.now() - mended)
    await delay(loadMs)
    stop.abort()
    await Promise.all(running)

    const verdicts = await Promise.all([...clients, ...witnesses].map((client) => client.check(store)))
    const tallies = clients.map(({ tally }) => tally)
    report.add({ fault: name, tallies, verdicts, recoverMs })
    expect(verdicts.flatMap(({ lost }) => lost)).toEqual([])
    expect(verdicts.flatMap(({ doubled }) => doubled)).toEqual([])
    const spared = tallies
      .flatMap(({ failures }) => failures)
      .filter(({ kind }) => spares === 'all' || spares === kind)
    expect(spared).toEqual([])
  }

  it.each(faults)(
    'nothing acknowledged is lost or doubled by: $name',
    async (fault) => survive(fault),
    120_000,
  )

  if (minutes > 0) {
    it(
      `nor by all of them in turn for ${minutes} minutes`,
      async () => {
        const end = performance.now() + minutes * 60_000
        while (performance.now() < end) for (const fault of everyFault) await survive(fault)
      },
      (minutes + 10) * 60_000,
    )
  }
})
