/** `npm start`: NATS, the four services and, by default, a demo organization, in the foreground until Ctrl-C. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { migrateDirectoryStore } from '@fms/directory-store'
import { migrateFormsStore } from '@fms/forms-store'
import { createLogger } from '@fms/service-kit/logger'
import { ConfigError, configErrorExitCode } from '@fms/service-kit/settings'
import { waitUntilReady } from '@fms/testkit/instances'
import { prepareNatsServer } from '@fms/testkit/nats-server'
import { forEveryUser } from '@fms/testkit/nats-users'
import { freePorts, waitForFreePort } from '@fms/testkit/ports'
import { bannerOf, systemFile, systemOf } from './banner.ts'
import { buildConsole } from './build-console.ts'
import { lockDataDir } from './data-dir.ts'
import { createDemoLoginCode, ensureDemo } from './demo-data.ts'
import { canSharePorts, instancesOf, writePrometheusTargets } from './instances.ts'
import { services as servicesOf } from './services.ts'
import { readOrCreateSecrets, readStartConfig, type StartConfig } from './start-config.ts'
import { type Supervisor, supervise } from './supervise.ts'
import { watchNatsDisk } from './watch-nats-disk.ts'

/** Delay before the banner, so that it comes after the last log lines of the start. Milliseconds. */
const bannerDelayMs = 250
const maxDeaths = 5
/** Codes of errors of an address that this machine does not have. */
const hostErrors = ['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'EINVAL']

process.chdir(join(import.meta.dirname, '..'))
// DATA_DIR holds keys and secrets: only the owner can read the files that this process and its children create.
process.umask(0o077)
try {
  await start()
} catch (error) {
  process.stderr.write(`npm start: ${(error as Error).message}\n`)
  process.exit(error instanceof ConfigError ? configErrorExitCode : 1)
}

async function start() {
  const config = readStartConfig(process.env)
  lockDataDir(config.DATA_DIR)
  const { internalSecret, demoApiKey } = readOrCreateSecrets(config)
  await requireSharedPorts(config)
  const [gatewayPort, ...ports] = (await freePorts(4 + config.GATEWAYS + config.FORMS)) as [
    number,
    ...number[],
  ]
  config.PORT ||= gatewayPort
  await requireFreePort(config)
  // The API works without the console.
  const consoleBuilt = buildConsole().then(
    (isBuilt) => (isBuilt ? '' : 'npm install gets what its build needs.'),
    (error: Error) => error.message,
  )
  await withStore(config, 'DIRECTORY_STORE_URL', migrateDirectoryStore)
  await withStore(config, 'FORMS_STORE_URL', migrateFormsStore)

  const nats = await prepareNats(config)
  const problem = await consoleBuilt
  if (problem) process.stderr.write(`The console is not built: ${problem}\n`)
  const services = servicesOf({ config, internalSecret, natsUrls: nats.urls, ports })
  const { url } = services.at(-1)!
  const all = instancesOf(services, { gateway: config.GATEWAYS, forms: config.FORMS }, ports.slice(3))
  writePrometheusTargets(join(config.DATA_DIR, 'prometheus.json'), all)
  const logger = await createLogger('start', config.LOG_LEVEL, config.LOG_FORMAT)
  const supervisor = supervise([...nats.programs, ...all], logger)
  nats.watch(supervisor)
  stopOnSignals(supervisor)
  try {
    const requireAlive = () => {
      const dead = [...nats.programs, ...all].find(({ name }) => supervisor.deaths(name) >= maxDeaths)
      if (!dead) return
      const log = dead.name === 'nats' ? ' or DATA_DIR/nats/log' : ''
      throw new Error(
        `${dead.name} died ${maxDeaths} times before all were ready; its output above${log} says why.`,
      )
    }
    await Promise.all(all.map((each) => waitUntilReady(each, requireAlive)))
    const demo = demoApiKey
      ? await withStore(config, 'DIRECTORY_STORE_URL', (url) => ensureDemo(url, demoApiKey))
      : undefined
    await delay(bannerDelayMs)
    const loginCode = demo ? await createDemoLoginCode(config.DIRECTORY_STORE_URL) : undefined
    const system = systemOf(url, demo && { ...demo, loginCode }, nats.eventsUrl)
    const file = join(config.DATA_DIR, systemFile)
    writeFileSync(file, `${JSON.stringify(system, null, 2)}\n`)
    process.stdout.write(bannerOf(system, process.stdout.isTTY ? undefined : file))
  } catch (error) {
    await supervisor.stop()
    throw error
  }
}

/** Runs one process of each service on systems without `SO_REUSEPORT`. */
async function requireSharedPorts(config: StartConfig) {
  if (Math.max(config.GATEWAYS, config.FORMS) === 1 || (await canSharePorts())) return
  config.GATEWAYS = config.FORMS = 1
  process.stderr.write('Processes cannot share a port on this system: one gateway and one forms run.\n')
}

async function requireFreePort({ HOST, PORT }: StartConfig) {
  try {
    await waitForFreePort(PORT, HOST)
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    const what =
      code === 'EADDRINUSE' ? `Port ${PORT} is taken` : `Cannot listen on ${HOST}:${PORT} (${message})`
    const advice = hostErrors.includes(code ?? '')
      ? 'Set HOST to an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all'
      : 'Set PORT to another one, such as PORT=8090 npm start'
    throw new Error(`${what}. ${advice}.`, { cause })
  }
}

/** Uses a store. The error names the variable, and the file: a URL with a host may have a password. */
async function withStore<T>(
  config: StartConfig,
  variable: 'DIRECTORY_STORE_URL' | 'FORMS_STORE_URL',
  use: (url: string) => Promise<T>,
): Promise<T> {
  const url = config[variable]
  try {
    return await use(url)
  } catch (cause) {
    const { message, cause: reason } = cause as Error
    const because = reason instanceof Error ? ` (${reason.message})` : ''
    const store = url.startsWith('sqlite:') ? url : `of ${variable}`
    throw new Error(
      `The store ${store} cannot be used. Check ${variable}, or DATA_DIR if it is not set. ${message}${because}`,
      { cause },
    )
  }
}

/** Uses the server at NATS_URL, or prepares a local nats-server for the supervisor. */
async function prepareNats({ NATS_URL, DATA_DIR }: StartConfig) {
  if (NATS_URL) {
    // The URL may have the rights of services: it is not printed.
    return { urls: forEveryUser(() => NATS_URL), programs: [], watch: () => {}, eventsUrl: undefined }
  }
  const { urls, program, healthUrl, folder } = await prepareNatsServer({ dataDir: DATA_DIR })
  const watch = (supervisor: Supervisor) =>
    watchNatsDisk({ healthUrl, folder, restart: () => supervisor.restart(program.name) })
  return { urls, programs: [program], watch, eventsUrl: urls.events }
}

function stopOnSignals(supervisor: Supervisor) {
  let stopping = false
  const stop = async () => {
    if (stopping) return
    stopping = true
    await supervisor.stop()
    process.exit(0)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)

  // A killed npm sends no signal, and a closed shell leaves its background jobs running.
  const npm = process.env.npm_lifecycle_event ? process.ppid : undefined
  if (npm) setInterval(() => process.ppid === npm || stop(), 500).unref()
}
