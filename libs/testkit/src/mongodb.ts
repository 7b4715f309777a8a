import { execFile, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { appendFileSync, existsSync, mkdtempSync, readFileSync, renameSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { MongoClient, MongoServerError } from 'mongodb'
import { installedSecantusDb, installSecantusDb, secantusVersion } from './secantusdb.ts'

const run = promisify(execFile)

/** A server that speaks MongoDB's protocol, and a database on it that nobody else uses. */
export interface MongoForTests extends AsyncDisposable {
  /** `mongodb://host:port/database`, the database being new and empty. */
  url: string
  /** Name and version, for people. */
  engine: string
  /** The engine's process, for tests that stop it; undefined where it is not one of this machine. */
  pid: number | undefined
}

/** A server without a database chosen yet. */
interface Engine {
  url: string
  name(version: string): string
  pid?: number
  /** @param database URL of the test's database, which is to be gone after this. */
  stop(database: string): Promise<void>
}

/** What `TEST_MONGODB_ENGINE` may name. */
const engines = {
  docker: () => container(),
  secantusdb: async (env: NodeJS.ProcessEnv) => secantusDb(await installSecantusDb(env)),
  jongodb: () => startJongodb(),
  ferretdb: () => ferretDb(),
} satisfies Record<string, (env: NodeJS.ProcessEnv) => Promise<Engine>>

/** Why secantusdb is not used in this test run, as `prepareEngine` found it. */
const withoutSecantusDb = 'FMS_WITHOUT_SECANTUSDB'

export interface MongoOptions {
  /**
   * Prefers jongodb to secantusdb: for tests of whole processes, which send many requests and do not depend on how the
   * engine stores, sorts or plans.
   */
  quick?: boolean
}

/**
 * A MongoDB for tests, the first of: the server at `TEST_MONGODB_URL`; the engine that `TEST_MONGODB_ENGINE` names
 * (`docker`, `secantusdb`, `jongodb`, `ferretdb`); `mongo:8` as a replica set of one in a container, where Docker runs;
 * secantusdb from PyPI, where Python runs; jongodb from npm. It ends with this process, however that ends.
 *
 * The engine is named once, at the end of a test run: libs/testkit/src/engines.ts.
 *
 * @throws {Error} that says what to do where there is none: MongoDB's suites never pass by not running.
 */
export async function startMongo(
  env: NodeJS.ProcessEnv = process.env,
  options: MongoOptions = {},
): Promise<MongoForTests> {
  const server = await findEngine(env, options)
  const url = withDatabase(server.url, `test_${randomBytes(6).toString('hex')}`)
  try {
    const engine = server.name(await versionOf(url))
    if (env.FMS_ENGINES_FILE) appendFileSync(env.FMS_ENGINES_FILE, `${engine}\n`)
    return { url, engine, pid: server.pid, [Symbol.asyncDispose]: () => server.stop(url) }
  } catch (error) {
    await server.stop(url).catch(() => {})
    throw error
  }
}

/**
 * Installs secantusdb where tests would use it, once for all workers of a test run; notes in `env` where it cannot.
 *
 * @returns why it cannot be installed.
 */
export async function prepareEngine(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  if (env.TEST_MONGODB_URL || env.TEST_MONGODB_ENGINE || installedSecantusDb()) return undefined
  if (await dockerAnswers(env)) return undefined
  try {
    await installSecantusDb(env)
    return undefined
  } catch (error) {
    env[withoutSecantusDb] = (error as Error).message
    return env[withoutSecantusDb]
  }
}

async function findEngine(env: NodeJS.ProcessEnv, { quick = false }: MongoOptions): Promise<Engine> {
  if (env.TEST_MONGODB_URL) return external(env.TEST_MONGODB_URL)
  if (env.TEST_MONGODB_ENGINE) return engineNamed(env.TEST_MONGODB_ENGINE)(env)
  if (await dockerAnswers(env)) return container()
  if (quick && findJongodb()) return startJongodb()
  if (!env[withoutSecantusDb]) {
    const python = await installSecantusDb(env).catch(() => undefined)
    if (python) return secantusDb(python)
  }
  return startJongodb()
}

function engineNamed(name: string) {
  if (Object.hasOwn(engines, name)) return engines[name as keyof typeof engines]
  throw new Error(`TEST_MONGODB_ENGINE is ${Object.keys(engines).join(', ')}, not ${name}`)
}

function external(url: string): Engine {
  return {
    url,
    name: (version) => `MongoDB ${version} (TEST_MONGODB_URL)`,
    stop: async (database) => {
      await using client = new MongoClient(database)
      // Who cannot drop one is made for tests, and thrown away as a whole.
      await client.db().dropDatabase().catch(unlessUnknownCommand)
    },
  }
}

function unlessUnknownCommand(error: unknown) {
  if (!(error instanceof MongoServerError && error.code === 59)) throw error
}

/** Does an engine answer, and not the client alone? */
async function dockerAnswers(env: NodeJS.ProcessEnv): Promise<boolean> {
  return run('docker', ['info'], { env, timeout: 1_500 }).then(
    () => true,
    () => false,
  )
}

async function container(): Promise<Engine> {
  const { GenericContainer, Wait } = await import('testcontainers')
  const started = await new GenericContainer('mongo:8')
    .withCommand(['--replSet', 'rs0', '--bind_ip_all'])
    .withExposedPorts(27017)
    .withWaitStrategy(Wait.forLogMessage(/Waiting for connections/))
    .start()
  const initiate =
    'rs.initiate({ _id: "rs0", members: [{ _id: 0, host: "127.0.0.1:27017" }] }); while (!db.hello().isWritablePrimary) sleep(50)'
  const { exitCode, output } = await started.exec(['mongosh', '--quiet', '--eval', initiate])
  if (exitCode !== 0) throw new Error(`The replica set does not start: ${output}`)
  return {
    url: `mongodb://${started.getHost()}:${started.getMappedPort(27017)}/?directConnection=true`,
    name: (version) => `MongoDB ${version} (Testcontainers, mongo:8)`,
    stop: async () => {
      await started.stop()
    },
  }
}

async function ferretDb(): Promise<Engine> {
  const command = await buildFerretDb()
  const folder = mkdtempSync(join(tmpdir(), 'ferretdb-'))
  return {
    ...(await startProgram(command, ['127.0.0.1:0', `file:${folder}/`], folder)),
    name: () => 'FerretDB 1.24 on SQLite (tools/mongodb-for-tests)',
  }
}

/** The program of tools/mongodb-for-tests, built unless it stands in node_modules/.cache already. */
async function buildFerretDb(): Promise<string> {
  const root = join(import.meta.dirname, '../../..')
  const source = join(root, 'tools/mongodb-for-tests')
  const digest = createHash('sha256')
  for (const file of ['main.go', 'go.mod']) digest.update(readFileSync(join(source, file)))
  const binary = join(root, 'node_modules/.cache', `mongodb-for-tests-${digest.digest('hex').slice(0, 12)}`)
  if (existsSync(binary)) return binary
  process.stderr.write('Building FerretDB; this is done once and takes a minute or two ...\n')
  const unfinished = `${binary}.${process.pid}`
  await run('go', ['build', '-o', unfinished, '.'], { cwd: source })
  renameSync(unfinished, binary)
  return binary
}

const npmPackage = '@jongodb/memory-server-bin-linux-x64-gnu'

function findJongodb(): { command: string; version: string } | undefined {
  const resolve = createRequire(import.meta.url).resolve
  try {
    const manifest = resolve(`${npmPackage}/package.json`)
    const { version } = JSON.parse(readFileSync(manifest, 'utf8'))
    return { command: join(dirname(manifest), 'bin/jongodb'), version }
  } catch {
    return undefined
  }
}

async function startJongodb(): Promise<Engine> {
  const jongodb = findJongodb()
  if (!jongodb) {
    throw new Error(
      'There is no MongoDB to test on. Set TEST_MONGODB_URL, start Docker, put Python 3.11 on the PATH, or run npm install on Linux x64, where npm brings an engine.',
    )
  }
  const { command, version } = jongodb
  return {
    ...(await startProgram(command, ['--host=127.0.0.1', '--port=0'])),
    name: (spoken) => `jongodb ${version} as ${spoken} (npm package ${npmPackage})`,
  }
}

/** It keeps what it acknowledged, and takes the failpoints of MongoDB's own tests. */
async function secantusDb(python: string): Promise<Engine> {
  const folder = mkdtempSync(join(tmpdir(), 'secantusdb-'))
  const args = ['-m', 'secantus', '--port', '0', '--storage-path', folder]
  return {
    ...(await startProgram(python, [...args, '--sync-on-commit', '--enable-test-commands'], folder)),
    name: (spoken) => `secantusdb ${secantusVersion()} as ${spoken} (PyPI)`,
  }
}

/**
 * Starts a server that prints its address once it listens.
 *
 * @param folder of its data: removed when the server has ended.
 */
async function startProgram(
  command: string,
  args: string[],
  folder = '',
): Promise<{ url: string; pid: number | undefined; stop: () => Promise<void> }> {
  // The shell waits for the end of its input. That end comes with ours, even by kill -9; Ctrl-C does not end it before.
  const endWithInput =
    'trap "" INT TERM; folder=$1; shift; exec 3<&0; "$@" <&- 3<&- 2>&1 & exec >&-; read -r _ <&3; kill -9 $!; wait $!; [ -z "$folder" ] || rm -rf "$folder"'
  const child = spawn('sh', ['-c', endWithInput, 'sh', folder, command, ...args], {
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const exited = once(child, 'exit')
  child.unref()
  const stop = async () => {
    child.ref()
    child.stdin.end()
    await exited
  }
  for await (const line of createInterface(child.stdout)) {
    const address = /(?:mongodb:\/\/|listening on )(\S+)/.exec(line)?.[1]
    if (!address) continue
    // Reads on, so that a full pipe never stops the server, and does not keep this process alive.
    child.stdout.resume()
    if (child.stdout instanceof Socket) child.stdout.unref()
    return { url: `mongodb://${address}`, pid: onlyChildOf(child.pid!), stop }
  }
  await stop()
  throw new Error(`${command} ended before it printed its address`)
}

/** As Linux tells it; elsewhere undefined. */
function onlyChildOf(pid: number): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()) || undefined
  } catch {
    return undefined
  }
}

async function versionOf(url: string): Promise<string> {
  await using client = new MongoClient(url)
  return (await client.db().admin().buildInfo()).version
}

/** The URL with another database; credentials are looked up where they were before. */
function withDatabase(url: string, database: string): string {
  const [, server, credentials, path = '', query = ''] =
    /^(\w+(?:\+\w+)?:\/\/(.+@)?[^/?]+)(?:\/([^?]*))?(?:\?(.*))?$/.exec(url) ?? []
  if (!server) throw new Error(`TEST_MONGODB_URL is no URL of a MongoDB: ${url}`)
  const parameters = new URLSearchParams(query)
  if (credentials && !parameters.has('authSource')) parameters.set('authSource', path || 'admin')
  return `${server}/${database}${parameters.size ? `?${parameters}` : ''}`
}
