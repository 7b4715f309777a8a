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
  const mongo = await startMongo()
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
  const { services } = readCompose(env)
  const names = Object.keys(services).filter((name) => !services[name]!.profiles)
  const portOf = await assignPorts([...names, natsMonitor])

  await using starting = new AsyncDisposableStack()
  const dataDir = mkdtempSync(join(tmpdir(), 'compose-'))
  starting.defer(() => rmSync(dataDir, { recursive: true, force: true }))
  const mongo = starting.use(users ? await withUsers(env.MONGODB_PASSWORD!) : await withoutUsers())
  const localUrl = (url: string) => localUrlOf(mongo.localUrl(url), portOf)
  const environmentOf = (name: string) => localEnvironment(services[name]!, localUrl, portOf(name))

  const run = async (name: string) => {
    const { command } = services[name]!
    if (name === 'check-secrets') return runOnce('sh', ['deploy/check-secrets.sh'], environmentOf(name))
    if (name === 'migrate') return runOnce(command[0]!, command.slice(1), environmentOf(name))
    if (name === 'mongo-init') return mongo.init(services[name]!.environment!)
    if (name === 'mongo') return
    const program = name === 'nats' ? natsProgram(command[0]!, dataDir, portOf) : { args: command.slice(1) }
    const child = spawnWithParent({ name, ...program, env: environmentOf(name) })
    starting.defer(() => terminate(child))
    const output = () => (name === 'nats' ? readFileSync(natsLog(dataDir), 'utf8') : 'see its output')
    await untilHealthy(name, child, output, () => isHealthy(services[name]!, environmentOf(name), portOf))
  }
  const started = await startInOrder(names, services, run)

  const running = starting.move()
  return {
    gatewayPort: portOf('gateway'),
    started,
    engine: mongo.engine,
    env,
    localUrl,
    mongoInit: (changed) => mongo.init({ ...services['mongo-init']!.environment, ...changed }),
    formctl: async (...args) => {
      const [command, ...formctl] = services.formctl!.entrypoint!
      const stdout = await runOnce(command!, [...formctl, ...args, '--json'], environmentOf('formctl'))
      return JSON.parse(stdout)
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

/** The monitoring port of the service `nats`, which its health check uses. */
const natsMonitor = 'nats:8222'

type PortOf = (name: string) => number

const assignPorts = async (names: readonly string[]): Promise<PortOf> => {
  const ports = await freePorts(names.length)
  const byName = new Map(names.map((name, index) => [name, ports[index]!]))
  return (name) => byName.get(name)!
}

/** Runs each service after the services that it depends on. @returns the names in the order in which `run` resolved. */
const startInOrder = async (
  names: readonly string[],
  services: ComposeFile['services'],
  run: (name: string) => Promise<unknown>,
): Promise<string[]> => {
  const order: string[] = []
  const starts = new Map<string, Promise<void>>()
  const startAfterDependencies = async (name: string) => {
    await Promise.all(Object.keys(services[name]!.depends_on ?? {}).map(start))
    await run(name)
    order.push(name)
  }
  const start = (name: string): Promise<void> => {
    const known = starts.get(name) ?? startAfterDependencies(name)
    starts.set(name, known)
    return known
  }
  await Promise.all(names.map(start))
  return order
}

const localUrlOf = (url: string, portOf: PortOf): string =>
  url
    .replace(/\bnats:4222$/, `127.0.0.1:${portOf('nats')}`)
    .replace(/^http:\/\/(\w+):8080$/, (_, name) => `http://127.0.0.1:${portOf(name)}`)

const localEnvironment = (
  { environment = {} }: ComposeService,
  localUrl: (url: string) => string,
  port: number,
): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
  ...Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, localUrl(value)])),
  ...(environment.PORT && { HOST: '127.0.0.1', PORT: `${port}` }),
})

/** Writes the configuration of the cluster's nats-server for this machine. @returns its command. */
const natsProgram = (configFlag: string, dataDir: string, portOf: PortOf) => {
  const config = readFileSync(join(root, 'deploy/nats-server.conf'), 'utf8')
    .replace(/^port: 4222$/m, `host: 127.0.0.1\nport: ${portOf('nats')}`)
    .replace(/^http: 8222$/m, `http: "127.0.0.1:${portOf(natsMonitor)}"`)
    .replace(/store_dir: \/data$/m, `store_dir: ${JSON.stringify(dataDir)}`)
  const file = join(dataDir, 'nats-server.conf')
  writeFileSync(file, config)
  return { command: findNatsServer().command, args: [configFlag, file, '-l', natsLog(dataDir)] }
}

const natsLog = (dataDir: string) => join(dataDir, 'log')

/** Runs the service's health check once. That of `nats` is a URL of its monitoring port. */
const isHealthy = (
  { healthcheck }: ComposeService,
  env: NodeJS.ProcessEnv,
  portOf: PortOf,
): Promise<boolean> => {
  const [, command, ...args] = healthcheck?.test ?? imageHealthCheck()
  const url = [command, ...args].at(-1)!
  const check = url.includes(':8222')
    ? fetch(url.replace(':8222', `:${portOf(natsMonitor)}`)).then(({ ok }) => ok)
    : runOnce(command!, args, env).then(() => true)
  return check.catch(() => false)
}

/** @throws {Error} when the process exits, or is not healthy after a minute. */
const untilHealthy = async (
  name: string,
  child: ChildProcess,
  output: () => string,
  check: () => Promise<boolean>,
) => {
  const deadline = performance.now() + startTimeoutMs
  while (!(await check())) {
    if (child.exitCode !== null) throw new Error(`${name} exited with ${child.exitCode}: ${output()}`)
    if (performance.now() > deadline) throw new Error(`${name} is not healthy after ${startTimeoutMs} ms`)
    await delay(50)
  }
}

/** Runs a program in the root of the repository. @returns its stdout. @throws when its exit code is not 0. */
const runOnce = async (command: string, args: string[], env: NodeJS.ProcessEnv): Promise<string> => {
  const { stdout } = await promisify(execFile)(executable(command), args, { cwd: root, env })
  return stdout
}

/**
 * Runs the setup of docs/operations.md: its formctl commands, and the demo with the key that the last one creates.
 *
 * @returns the output of the demo.
 */
export const runOperatorSetup = async (
  cluster: Pick<LocalCluster, 'formctl' | 'gatewayPort'>,
): Promise<string> => {
  const page = readFileSync(join(root, 'docs/operations.md'), 'utf8')
  const [, section] = /^## The cluster\n(.*?)^### /ms.exec(page)!
  const lines = [...section!.matchAll(/^ {4}docker compose run --rm formctl (.*)$/gm)].map(
    ([, line]) => line!,
  )
  const outcomes: { key?: string }[] = []
  for (const line of lines) outcomes.push(await cluster.formctl(...line.split(' ')))
  return runOnce('node', ['scripts/demo.ts'], {
    HOST: '127.0.0.1',
    PORT: `${cluster.gatewayPort}`,
    DEMO_API_KEY: outcomes.at(-1)!.key,
    DEMO_ORGANIZATION: /DEMO_ORGANIZATION=(\w+)/.exec(section!)![1],
  })
}

/** `node` of the image is the Node of the tests. */
const executable = (command: string) => (command === 'node' ? process.execPath : command)

/** The URL with a suffix of its database name, so that two databases share one engine. */
const withSuffix = (url: string, database: string): string => {
  const [, before, query = ''] = /^([^?]*)(\?.*)?$/.exec(url)!
  return `${before}_${database}${query}`
}
