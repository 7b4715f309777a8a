import { type ChildProcess, execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseEnv, promisify } from 'node:util'
import { startMongo } from '@fms/testkit/mongodb'
import { findNatsServer } from '@fms/testkit/nats-server'
import { freePorts } from '@fms/testkit/ports'
import { spawnWithParent, terminate } from '@fms/testkit/processes'
import { parse } from 'yaml'
import { startMongoWithUsers } from './mongo-with-users.ts'
import { connectAdmin, runMongoInit } from './mongosh.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')
const startTimeoutMs = 60_000

/** A service of docker-compose.yml. */
export interface ComposeService {
  image: string
  /** The service starts only when one of these profiles is enabled. Default: always. */
  profiles?: string[]
  entrypoint?: string[]
  command: string[]
  environment?: Record<string, string>
  volumes?: string[]
  healthcheck?: { test: string[] }
  ports?: string[]
  restart: string
  build?: string
  networks?: string[]
  depends_on?: Record<string, { condition: string }>
  deploy: { resources: { limits: { cpus: string; memory: string } } }
}

/** The part of docker-compose.yml that tests read. */
export interface ComposeFile {
  services: Record<string, ComposeService>
  networks: Record<string, { internal?: boolean; ipam?: { config: { subnet: string }[] } } | null>
}

/** Parses docker-compose.yml: merges anchors and substitutes the variables of `env`. */
export const readCompose = (env: NodeJS.ProcessEnv): ComposeFile => {
  const text = readFileSync(join(root, 'docker-compose.yml'), 'utf8')
  return parse(text, { merge: true, reviver: (_, value) => interpolate(value, env) })
}

/** The variables of `.env.example` with random secrets. */
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

/** Substitutes `${NAME}`, `${NAME:-default}`, `${NAME:?error}` and `$$`. */
const interpolate = (value: unknown, env: NodeJS.ProcessEnv): unknown =>
  typeof value !== 'string'
    ? value
    : value.replace(/\$\$|\$\{(\w+)(?::([-?])([^}]*))?\}/g, (all, name, sign, text) => {
        if (all === '$$') return '$'
        if (env[name]) return env[name]
        if (sign === '?') throw new Error(`${name}: ${text}`)
        return text ?? ''
      })

/** The default health check of the image, from the Dockerfile. */
const imageHealthCheck = (): string[] => [
  'CMD',
  ...JSON.parse(/^HEALTHCHECK [^[]*CMD (\[.*\])$/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8'))![1]!),
]

/** The cluster as processes without containers. */
export interface LocalCluster extends AsyncDisposable {
  /** Port of the gateway on 127.0.0.1. */
  gatewayPort: number
  /** Names of the services in the order in which they became healthy. */
  started: string[]
  /** Name and version of the engine that replaces MongoDB. */
  engine: string
  /** The variables of .env. */
  env: Record<string, string>
  /** Rewrites a store URL of Compose to the address on this machine. */
  localUrl(url: string): string
  /** Runs the equivalent of `docker compose run --rm mongo-init`, with changed variables. */
  mongoInit(env: NodeJS.ProcessEnv): Promise<void>
  /** Runs the equivalent of `docker compose run --rm formctl … --json`. @returns its output. */
  formctl<T>(...args: string[]): Promise<T>
}

/** The engine that replaces the container `mongo`. */
interface MongoEngine extends AsyncDisposable {
  engine: string
  /** Rewrites a URL of Compose to the address on this machine. */
  localUrl(url: string): string
  /** @param env the environment of the one-shot service `mongo-init`. */
  init(env: NodeJS.ProcessEnv): Promise<void>
}

/** An engine without users: `mongo-init` does nothing, and URLs have no user and password. */
const withoutUsers = async (): Promise<MongoEngine> => {
  const mongo = await startMongo(process.env, { quick: true })
  return {
    engine: mongo.engine,
    localUrl: (url) =>
      url.replace(/^mongodb:\/\/[^/]*@mongo:27017\/(\w+)\?.*$/, (_, database) =>
        withSuffix(mongo.url, database),
      ),
    init: async () => {},
    [Symbol.asyncDispose]: () => mongo[Symbol.asyncDispose](),
  }
}

/** An engine that requires passwords and enforces roles. It is no replica set. */
const withUsers = async (rootPassword: string): Promise<MongoEngine> => {
  const mongo = await startMongoWithUsers({ user: 'fms', password: rootPassword })
  const localUrl = (url: string) =>
    url.replace('@mongo:27017', `@${mongo.host}`).replace('replicaSet=rs0', 'directConnection=true')
  return {
    engine: mongo.engine,
    localUrl,
    init: async (env) => {
      await using admin = connectAdmin(localUrl(env.MONGODB_URL!))
      runMongoInit(admin.adminCommand, env)
    },
    [Symbol.asyncDispose]: () => mongo[Symbol.asyncDispose](),
  }
}

/**
 * Starts the services of docker-compose.yml as processes on this machine: each with its command and environment, in the
 * order of `depends_on`, waiting for each health check. Host names become ports of 127.0.0.1; `mongo` is an engine for
 * tests, `nats` a nats-server with the configuration of the cluster.
 *
 * @param users whether the engine enforces users and roles, and `mongo-init` runs. Such an engine needs Python 3.
 */
export const startCluster = async ({ users = false } = {}): Promise<LocalCluster> => {
  const env: Record<string, string> = { ...operatorsEnv(), LOG_LEVEL: 'error', DRAIN_MS: '0' }
  const compose = readCompose(env)
  const names = Object.keys(compose.services).filter((name) => !compose.services[name]!.profiles)
  const ports = new Map(
    await freePorts(names.length + 1).then((free) => free.map((port, i) => [names[i] ?? 'nats:8222', port])),
  )
  const portOf = (name: string) => ports.get(name)!
  const mongo = users ? await withUsers(env.MONGODB_PASSWORD!) : await withoutUsers()
  const dataDir = mkdtempSync(join(tmpdir(), 'compose-'))
  const children = new Map<string, ChildProcess>()
  const started: string[] = []

  const localUrl = (value: string) =>
    mongo
      .localUrl(value)
      .replace(/\bnats:4222$/, `127.0.0.1:${portOf('nats')}`)
      .replace(/^http:\/\/(\w+):8080$/, (_, name) => `http://127.0.0.1:${portOf(name)}`)
  const environmentOf = (name: string): NodeJS.ProcessEnv => ({
    PATH: process.env.PATH,
    ...Object.fromEntries(
      Object.entries(compose.services[name]!.environment ?? {}).map(([key, value]) => [key, localUrl(value)]),
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
    const runWithParent = join(root, 'libs/testkit/src/run-with-parent.ts')
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
    if (name === 'check-secrets') {
      await run('sh', [join(root, 'deploy/check-secrets.sh')], { env: environmentOf(name) })
    } else if (name === 'migrate') {
      await run(executable(command[0]!), command.slice(1), { cwd: root, env: environmentOf(name) })
    } else if (name === 'mongo-init') {
      await mongo.init(compose.services[name]!.environment!)
    } else if (name !== 'mongo') {
      await startProcess(name, name === 'nats' ? startNats() : command.slice(1))
    }
    started.push(name)
  }
  const startProcess = async (name: string, args: string[]) => {
    const child = spawnWithParent({ name, args, env: environmentOf(name) })
    children.set(name, child)
    const deadline = performance.now() + startTimeoutMs
    while (!(await isHealthy(name))) {
      if (child.exitCode !== null)
        throw new Error(`${name} ended with ${child.exitCode}; its output says why`)
      if (performance.now() > deadline) throw new Error(`${name} is not healthy after ${startTimeoutMs} ms`)
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
    env,
    localUrl,
    mongoInit: (changed) => mongo.init({ ...compose.services['mongo-init']!.environment, ...changed }),
    formctl: async (...args) => {
      const [command, ...formctl] = compose.services.formctl!.entrypoint!
      const { stdout } = await run(executable(command!), [...formctl, ...args, '--json'], {
        cwd: root,
        env: environmentOf('formctl'),
      })
      return JSON.parse(stdout)
    },
    [Symbol.asyncDispose]: stop,
  }
}

/**
 * Runs the setup of docs/operations.md: its formctl commands, and the demo with the key that the last one creates.
 *
 * @returns the output of the demo.
 */
export const runOperatorSetup = async (cluster: LocalCluster): Promise<string> => {
  const page = readFileSync(join(root, 'docs/operations.md'), 'utf8')
  const [, section] = /^## The cluster\n(.*?)^### /ms.exec(page)!
  const lines = [...section!.matchAll(/^ {4}docker compose run --rm formctl (.*)$/gm)].map(
    ([, line]) => line!,
  )
  const outcomes: { key?: string }[] = []
  for (const line of lines) outcomes.push(await cluster.formctl(...line.split(' ')))
  const demo = await run(process.execPath, ['scripts/demo.ts'], {
    cwd: root,
    env: {
      HOST: '127.0.0.1',
      PORT: `${cluster.gatewayPort}`,
      DEMO_API_KEY: outcomes.at(-1)!.key,
      DEMO_ORGANIZATION: /DEMO_ORGANIZATION=(\w+)/.exec(section!)![1],
    },
  })
  return demo.stdout
}

/** `node` of the image is the Node of the tests. */
const executable = (command: string) => (command === 'node' ? process.execPath : command)

/** The URL with a suffix of its database name, so that two databases share one engine. */
const withSuffix = (url: string, database: string): string => {
  const [, before, query = ''] = /^([^?]*)(\?.*)?$/.exec(url)!
  return `${before}_${database}${query}`
}
