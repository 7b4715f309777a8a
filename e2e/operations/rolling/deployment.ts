import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { NatsServer } from '@fms/testkit/nats-server'
import { startNatsServer } from '@fms/testkit/nats-server'
import { freePorts } from '@fms/testkit/ports'
import type { Service } from '@fms/testkit/processes'
import { spawnWithParent, terminate } from '@fms/testkit/processes'
import { services } from '../../../scripts/services.ts'
import { readStartConfig, type StartConfig } from '../../../scripts/start-config.ts'

/** How a process exited after SIGTERM. */
export interface Exit {
  code: number | null
  afterMs: number
}

/** Two instances of every service. The host names `forms` and `organizations` resolve to all of their instances. */
export interface Deployment extends AsyncDisposable {
  directoryStoreUrl: string
  nats: NatsServer
  /** `http://host:port` of each instance by its name, such as `forms-1`. */
  urls: Record<string, string>
  /** Resolves once the instance is ready. Does nothing if it runs. */
  start(instance: string): Promise<void>
  /** Sends SIGTERM and waits for the exit. */
  stop(instance: string): Promise<Exit>
}

/** The folder of this release's sources. */
export const thisRelease = join(import.meta.dirname, '../../..')

const internalSecret = 'a secret of the tests, long enough'
/** The cache of `npm start`, since the test mostly waits for starts. */
const compileCache = join(thisRelease, 'node_modules/.cache/node')
const fakeDns = join(import.meta.dirname, 'fake-dns.ts')

type ServiceEnvironments = Record<'organizations' | 'forms' | 'publisher' | 'gateway', NodeJS.ProcessEnv>

export interface DeploymentOptions {
  /** Additional environment variables of each service. */
  env: ServiceEnvironments
  /** Numbers of the instances that start at first. Default: all. */
  startAtFirst?: readonly number[]
}

/** The numbers of the instances, as in `forms-1`. */
const numbers = [1, 2]

export const startDeployment = async ({
  env,
  startAtFirst = numbers,
}: DeploymentOptions): Promise<Deployment> => {
  await using starting = new AsyncDisposableStack()
  const folder = starting.use(await mkdtempDisposable(join(tmpdir(), 'rolling-')))
  const nats = starting.use(await startNatsServer({ dataDir: folder.path }))
  const startEnv = { DATA_DIR: folder.path, LOG_LEVEL: 'error' }
  const config = { ...readStartConfig(startEnv), HOST: '127.0.0.1' }
  const all = await instancesOf(config, nats, env)
  const children = new Map<string, ChildProcess>()
  starting.defer(async () => void (await Promise.all([...children.values()].map(terminate))))

  const start = async (instance: string) => {
    const running = children.get(instance)
    if (running && running.exitCode === null && running.signalCode === null) return
    const service = all.get(instance)!
    const child = spawnWithParent(service)
    children.set(instance, child)
    while (!(await isReady(service))) {
      if (child.exitCode !== null) throw new Error(`${instance} ended with ${child.exitCode}`)
      await delay(100)
    }
  }
  const isFirst = (instance: string) => startAtFirst.some((number) => instance.endsWith(`-${number}`))
  await Promise.all([...all.keys()].filter(isFirst).map(start))

  const started = starting.move()
  return {
    directoryStoreUrl: config.DIRECTORY_STORE_URL,
    nats,
    urls: Object.fromEntries([...all].map(([instance, { url }]) => [instance, url])),
    start,
    stop: async (instance) => {
      const child = children.get(instance)!
      const startedAt = performance.now()
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      const [code] = await exited
      return { code, afterMs: performance.now() - startedAt }
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  }
}

/** Every instance by its name. Instances with the same number have the same address of the loopback network. */
const instancesOf = async (
  config: StartConfig,
  nats: NatsServer,
  env: ServiceEnvironments,
): Promise<Map<string, Service>> => {
  const ports = (await freePorts(2 + 2 * numbers.length)) as [number, number, ...number[]]
  const [organizationsPort, formsPort, ...portsByInstance] = ports
  const addresses = numbers.map(addressOf)
  const all = new Map<string, Service>()
  for (const number of numbers) {
    const [publisherPort, gatewayPort] = portsByInstance.splice(0, 2) as [number, number]
    const programs = services({
      config: { ...config, PORT: gatewayPort },
      internalSecret,
      natsUrls: nats.urls,
      ports: [organizationsPort, formsPort, publisherPort],
    })
    const sharedEnv = {
      HOST: addressOf(number),
      RATE_LIMIT_PER_MINUTE: '0',
      NODE_COMPILE_CACHE: compileCache,
      ORGANIZATIONS_URL: `http://organizations:${organizationsPort}`,
      FORMS_URL: `http://forms:${formsPort}`,
      NAMES: JSON.stringify({ organizations: addresses, forms: addresses }),
    }
    for (const program of programs)
      all.set(`${program.name}-${number}`, {
        ...program,
        url: `http://${addressOf(number)}:${program.env!.PORT}`,
        args: ['--import', fakeDns, ...program.args],
        env: { ...program.env, ...sharedEnv, ...env[program.name as keyof typeof env] },
      })
  }
  return all
}

const addressOf = (number: number) => `127.0.0.${number}`

/** Uses a new connection, so that no idle connection delays the stop of a service. */
const isReady = ({ url }: Service) =>
  fetch(`${url}/readyz`, { headers: { connection: 'close' } }).then(
    ({ ok }) => ok,
    () => false,
  )
