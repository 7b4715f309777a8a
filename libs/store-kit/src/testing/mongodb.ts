import { execFile, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { appendFileSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { MongoClient, MongoServerError } from 'mongodb'

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

/**
 * A MongoDB for tests, the first of: the server at `TEST_MONGODB_URL`; `mongo:8` as a replica set of one in a container,
 * where Docker answers; FerretDB v1, where `FMS_TEST_FERRETDB=1` (tools/mongodb-for-tests says why only then); jongodb
 * from npm. It ends with this process, however that ends.
 *
 * The engine is named once, at the end of a test run: scripts/testing/engines.ts.
 *
 * @throws {Error} that says what to do where there is none: MongoDB's suites never pass by not running.
 */
export async function startMongo(env: NodeJS.ProcessEnv = process.env): Promise<MongoForTests> {
  const server = await findEngine(env)
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

async function findEngine(env: NodeJS.ProcessEnv): Promise<Engine> {
  if (env.TEST_MONGODB_URL) return external(env.TEST_MONGODB_URL)
  if (await dockerAnswers(env)) return container()
  if (env.FMS_TEST_FERRETDB === '1') return ferretDb()
  const jongodb = findJongodb()
  if (jongodb) return startJongodb(jongodb)
  throw new Error(
    'There is no MongoDB to test on. Set TEST_MONGODB_URL, start Docker, or run npm install on Linux x64, where npm brings an engine.',
  )
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
  const { url, stop } = await startProgram(command, ['127.0.0.1:0', `file:${folder}/`])
  return {
    url,
    name: () => 'FerretDB 1.24 on SQLite (tools/mongodb-for-tests)',
    stop: async () => {
      await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The program of tools/mongodb-for-tests, built unless it stands in node_modules/.cache already. */
async function buildFerretDb(): Promise<string> {
  const root = join(import.meta.dirname, '../../../..')
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

async function startJongodb({ command, version }: { command: string; version: string }): Promise<Engine> {
  return {
    ...(await startProgram(command, ['--host=127.0.0.1', '--port=0'])),
    name: (spoken) => `jongodb ${version} as ${spoken} (npm package ${npmPackage})`,
  }
}

/** Starts a server that prints its URL once it listens. */
async function startProgram(
  command: string,
  args: string[],
): Promise<{ url: string; pid: number | undefined; stop: () => Promise<void> }> {
  // The shell waits for the end of its input. That end comes with ours, even by kill -9.
  const endWithInput = 'exec 3<&0; "$@" <&- 3<&- & exec >&-; read -r _ <&3; kill -9 $!'
  const child = spawn('sh', ['-c', endWithInput, 'sh', command, ...args], {
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
    const url = /mongodb:\S+/.exec(line)?.[0]
    if (url) return { url, pid: onlyChildOf(child.pid!), stop }
  }
  await stop()
  throw new Error(`${command} ended before it printed its URL`)
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
