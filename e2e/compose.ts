import { type ChildProcess, execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseEnv, promisify } from 'node:util'
import { startMongo } from '@fms/store-kit/testing'
import { parse } from 'yaml'
import { findNatsServer } from '../scripts/nats-server.ts'
import { freePorts } from '../scripts/ports.ts'
import { spawnWithParent, terminate } from '../scripts/supervise.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..')
const patienceMs = 60_000

export interface ComposeService {
  image: string
  command: string[]
  environment?: Record<string, string>
  healthcheck?: { test: string[] }
  ports?: string[]
  restart: string
  build?: string
  networks: string[]
  depends_on?: Record<string, { condition: string }>
  deploy: { resources: { limits: { cpus: string; memory: string } } }
}

export interface ComposeFile {
  services: Record<string, ComposeService>
  networks: Record<string, { internal?: boolean }>
}

/** docker-compose.yml as Compose reads it: anchors merged, variables of `env` filled in. */
export const readCompose = (env: NodeJS.ProcessEnv): ComposeFile => {
  const text = readFileSync(join(root, 'docker-compose.yml'), 'utf8')
  return parse(text, { merge: true, reviver: (_, value) => interpolated(value, env) })
}

/** `.env.example` after an operator replaced its secrets. */
export const operatorsEnv = (): Record<string, string> => {
  const example = parseEnv(readFileSync(join(root, '.env.example'), 'utf8')) as Record<string, string>
  const isSecret = (name: string) => /(SECRET|PASSWORD|KEY)$/.test(name)
  return Object.fromEntries(
    Object.entries(example).map(([name, value]) => [
      name,
      isSecret(name) ? randomBytes(32).toString('hex') : value,
    ]),
  )
}

/** `${NAME}`, `${NAME:-default}`, `${NAME:?complaint}` and `$$`. */
const interpolated = (value: unknown, env: NodeJS.ProcessEnv): unknown =>
  typeof value !== 'string'
    ? value
    : value.replace(/\$\$|\$\{(\w+)(?::([-?])([^}]*))?\}/g, (all, name, sign, text) => {
        if (all === '$$') return '$'
        if (env[name]) return env[name]
        if (sign === '?') throw new Error(`${name}: ${text}`)
        return text ?? ''
      })

/** The health check that the image brings, as the Dockerfile has it. */
const imageHealthCheck = (): string[] => [
  'CMD',
  ...JSON.parse(/^HEALTHCHECK [^[]*CMD (\[.*\])$/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8'))![1]!),
]

/** The cluster without containers. */
export interface Rehearsal extends AsyncDisposable {
  /** `http://127.0.0.1:port` of the gateway. */
  gatewayPort: number
  /** In the order in which they were up. */
  started: string[]
  /** Name and version of what stands in for MongoDB. */
  engine: string
  /** What `docker compose run --rm migrate node formctl/src/formctl.ts …` does, with `--json`. */
  formctl<T>(...args: string[]): Promise<T>
}

/**
 * Starts what docker-compose.yml describes as processes of this machine: each service's own command with its own
 * environment, in the order that `depends_on` demands, each health check asked until it agrees. Names of hosts become
 * ports of 127.0.0.1; `mongo` is an engine for tests, `nats` a nats-server with the cluster's own configuration.
 */
export const rehearse = async (): Promise<Rehearsal> => {
  const compose = readCompose({ ...operatorsEnv(), LOG_LEVEL: 'error', DRAIN_MS: '0' })
  const names = Object.keys(compose.services)
  const ports = new Map(
    await freePorts(names.length + 1).then((free) => free.map((port, i) => [names[i] ?? 'nats:8222', port])),
  )
  const portOf = (name: string) => ports.get(name)!
  const mongo = await startMongo(process.env, { quick: true })
  const dataDir = mkdtempSync(join(tmpdir(), 'compose-'))
  const children = new Map<string, ChildProcess>()
  const started: string[] = []

  const here = (value: string) =>
    value
      .replace(/^mongodb:\/\/[^/]*@mongo:27017\/(\w+)\?.*$/, (_, database) => withSuffix(mongo.url, database))
      .replace(/\bnats:4222$/, `127.0.0.1:${portOf('nats')}`)
      .replace(/^http:\/\/(\w+):8080$/, (_, name) => `http://127.0.0.1:${portOf(name)}`)
  const environmentOf = (name: string): NodeJS.ProcessEnv => ({
    PATH: process.env.PATH,
    ...Object.fromEntries(
      Object.entries(compose.services[name]!.environment ?? {}).map(([key, value]) => [key, here(value)]),
    ),
    ...(compose.services[name]!.environment?.PORT && { HOST: '127.0.0.1', PORT: `${portOf(name)}` }),
  })

  const startNats = () => {
    const config = readFileSync(join(root, 'deploy/nats-server.conf'), 'utf8')
      .replace(/^port: 4222$/m, `host: 127.0.0.1\nport: ${portOf('nats')}`)
      .replace(/^http: 8222$/m, `http: "127.0.0.1:${portOf('nats:8222')}"`)
      .replace(/store_dir: \/data$/m, `store_dir: ${JSON.stringify(dataDir)}`)
    const file = join(dataDir, 'nats-server.conf')
    writeFileSync(file, config)
    const [flag] = compose.services.nats!.command
    const runWithParent = join(root, 'scripts/run-with-parent.ts')
    return [runWithParent, findNatsServer().command, flag!, file, '-l', join(dataDir, 'log')]
  }
  const isHealthy = async (name: string): Promise<boolean> => {
    const { healthcheck } = compose.services[name]!
    if (name === 'nats') {
      const url = healthcheck!.test.at(-1)!.replace(':8222', `:${portOf('nats:8222')}`)
      return fetch(url).then(
        ({ ok }) => ok,
        () => false,
      )
    }
    const [, command, ...args] = healthcheck?.test ?? imageHealthCheck()
    return run(executable(command!), args, { env: environmentOf(name) }).then(
      () => true,
      () => false,
    )
  }

  const up = new Map<string, Promise<void>>()
  const start = (name: string): Promise<void> => {
    const known = up.get(name) ?? startAfterDependencies(name)
    up.set(name, known)
    return known
  }
  const startAfterDependencies = async (name: string) => {
    const { command, depends_on = {} } = compose.services[name]!
    await Promise.all(Object.keys(depends_on).map(start))
    if (name === 'migrate')
      await run(executable(command[0]!), command.slice(1), { cwd: root, env: environmentOf(name) })
    else if (!name.startsWith('mongo'))
      await startProcess(name, name === 'nats' ? startNats() : command.slice(1))
    started.push(name)
  }
  const startProcess = async (name: string, args: string[]) => {
    const child = spawnWithParent({ name, args, env: environmentOf(name) })
    children.set(name, child)
    const deadline = performance.now() + patienceMs
    while (!(await isHealthy(name))) {
      if (child.exitCode !== null)
        throw new Error(`${name} ended with ${child.exitCode}; its output says why`)
      if (performance.now() > deadline) throw new Error(`${name} is not healthy after ${patienceMs} ms`)
      await delay(50)
    }
  }
  const stop = async () => {
    for (const child of [...children.values()].reverse()) await terminate(child)
    await mongo[Symbol.asyncDispose]()
    rmSync(dataDir, { recursive: true, force: true })
  }

  try {
    await Promise.all(names.map(start))
  } catch (error) {
    await stop()
    throw error
  }
  return {
    gatewayPort: portOf('gateway'),
    started,
    engine: mongo.engine,
    formctl: async (...args) => {
      const formctl = ['formctl/src/formctl.ts', ...args, '--json']
      const { stdout } = await run(process.execPath, formctl, { cwd: root, env: environmentOf('migrate') })
      return JSON.parse(stdout)
    },
    [Symbol.asyncDispose]: stop,
  }
}

/** The Node of the image is this one. */
const executable = (command: string) => (command === 'node' ? process.execPath : command)

/** Two databases where the test was given one. */
const withSuffix = (url: string, database: string): string => {
  const [, before, query = ''] = /^([^?]*)(\?.*)?$/.exec(url)!
  return `${before}_${database}${query}`
}
