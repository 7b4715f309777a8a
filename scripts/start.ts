/** `npm start`: NATS, the four services and a demo organization, in the foreground until Ctrl-C. */
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { migrateDirectoryStore } from '@fms/directory-store'
import { migrateFormsStore } from '@fms/forms-store'
import { createLogger } from '@fms/service-kit'
import { prepareNatsServer } from '@fms/testkit/nats-server'
import { forEveryUser } from '@fms/testkit/nats-users'
import { freePorts, untilPortIsFree } from '@fms/testkit/ports'
import type { Service } from '@fms/testkit/processes'
import { takeDataDir } from './data-dir.ts'
import { type Demo, ensureDemo } from './demo-data.ts'
import { services } from './services.ts'
import { keepSecrets, readStartConfig, type StartConfig } from './start-config.ts'
import { type Supervisor, supervise } from './supervise.ts'
import { watchNatsDisk } from './watch-nats-disk.ts'

/** By then the services have written that they are ready, and the banner is the last thing in view. Milliseconds. */
const lastLinesMs = 250
const patienceMs = 60_000
const deathsBeforeGivingUp = 5

process.chdir(join(import.meta.dirname, '..'))
// DATA_DIR holds keys and secrets: only their owner reads the files that this process and its children make.
process.umask(0o077)
try {
  await start()
} catch (error) {
  process.stderr.write(`npm start: ${(error as Error).message}\n`)
  process.exit(1)
}

async function start() {
  const config = readStartConfig(process.env)
  takeDataDir(config.DATA_DIR)
  const { internalSecret, demoApiKey } = keepSecrets(config)
  const [gatewayPort, ...ports] = (await freePorts(4)) as [number, ...number[]]
  config.PORT ||= gatewayPort
  await demandPort(config)
  await migrateDirectoryStore(config.DIRECTORY_STORE_URL)
  await migrateFormsStore(config.FORMS_STORE_URL)

  const nats = await findNats(config)
  const all = services({ config, internalSecret, natsUrls: nats.urls, ports })
  const logger = await createLogger('start', config.LOG_LEVEL, config.LOG_FORMAT)
  const supervisor = supervise([...nats.programs, ...all], logger)
  nats.watch(supervisor)
  stopWhenAsked(supervisor)
  try {
    await Promise.all(all.map((service) => untilReady(service, supervisor)))
    const gateway = all.at(-1)!
    const demo = await ensureDemo(config.DIRECTORY_STORE_URL, demoApiKey)
    await delay(lastLinesMs)
    welcome(gateway.url, demo)
  } catch (error) {
    await supervisor.stop()
    throw error
  }
}

async function demandPort({ HOST, PORT }: StartConfig) {
  try {
    await untilPortIsFree(PORT, HOST)
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    const what =
      code === 'EADDRINUSE' ? `Port ${PORT} is taken` : `Cannot listen on ${HOST}:${PORT} (${message})`
    throw new Error(`${what}. Set PORT to another one, such as PORT=8090 npm start.`, { cause })
  }
}

/** The operator's NATS, or else the programs that make one. */
async function findNats({ NATS_URL, DATA_DIR }: StartConfig) {
  if (NATS_URL) return { urls: forEveryUser(() => NATS_URL), programs: [], watch: () => {} }
  const { urls, program, healthUrl, folder } = await prepareNatsServer({ dataDir: DATA_DIR })
  const watch = (supervisor: Supervisor) =>
    watchNatsDisk({ healthUrl, folder, restart: () => supervisor.restart(program.name) })
  return { urls, programs: [program], watch }
}

async function untilReady({ name, url }: Service, supervisor: Supervisor) {
  const deadline = performance.now() + patienceMs
  const isReady = () =>
    fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) }).then(
      (response) => response.ok,
      () => false,
    )
  while (!(await isReady())) {
    if (supervisor.deaths(name) >= deathsBeforeGivingUp) {
      throw new Error(
        `${name} died ${deathsBeforeGivingUp} times before it was ready; its output above says why.`,
      )
    }
    if (performance.now() > deadline) {
      throw new Error(`${name} is not ready after ${patienceMs / 1000} s; its output above may say why.`)
    }
    await delay(25)
  }
}

function stopWhenAsked(supervisor: Supervisor) {
  let stopping = false
  const stop = async () => {
    if (stopping) return
    stopping = true
    await supervisor.stop()
    process.exit(0)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)

  // An npm that is killed tells nobody; a shell that ends leaves its background jobs to run.
  const npm = process.env.npm_lifecycle_event ? process.ppid : undefined
  if (npm) setInterval(() => process.ppid === npm || stop(), 500).unref()
}

function welcome(origin: string, { organizationSlug, apiKey }: Demo) {
  const key = apiKey ?? 'revoked; npm run formctl -- key create --user demo@example.com makes another'
  const baseUrl = `${origin}/v2`
  process.stdout.write(`
  Form management is ready; Ctrl-C stops it.

  Base URL           ${baseUrl}
  Reference page     ${baseUrl}/docs
  Demo organization  ${organizationSlug}
  Demo key           ${key}

  curl -H 'x-api-key: ${apiKey ?? 'KEY'}' ${baseUrl}/organizations/${organizationSlug}/forms

`)
}
