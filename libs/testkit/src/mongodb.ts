import { randomBytes } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { MongoClient } from 'mongodb'
import { reportToolchain } from './machine/toolchains.ts'
import { externalServer, isDockerRunning, startContainer, startSecantusDb } from './mongodb/engines.ts'
import { installedSecantusDb, installSecantusDb } from './mongodb/install-secantusdb.ts'
import type { MongodbEngine } from './mongodb/mongodb-engine.ts'

/** A database of one test, on a server that speaks MongoDB's protocol. Disposing leaves nothing that outlives the process. */
export interface TestMongodb extends AsyncDisposable {
  /** `mongodb://host:port/database`; the database is new and empty. */
  url: string
  /** Name, version and origin of the engine, for the report of a test run. */
  engine: string
  /** The engine's process, for tests that stop it; undefined where it does not run on this machine. */
  pid: number | undefined
}

/** Values of `TEST_MONGODB_ENGINE`. */
const engines = {
  docker: () => startContainer(),
  secantusdb: async (env: NodeJS.ProcessEnv) => startSecantusDb(await installSecantusDb(env)),
} satisfies Record<string, (env: NodeJS.ProcessEnv) => Promise<MongodbEngine>>

/** Set by `prepareEngine`: why this machine has no MongoDB to test on. */
const missingEngine = 'FMS_MISSING_MONGODB'

/** The engine of this process, once a test has needed it. */
let shared: Promise<MongodbEngine> | undefined

/**
 * A new database for a test, on an engine that all tests of this process share: to start one takes 2 s of CPU time. The
 * engine ends with the process.
 */
export async function startMongo(): Promise<TestMongodb> {
  const { env } = process
  shared ??= startEngine(env)
  const engine = await shared
  return createDatabase(engine, env, env.TEST_MONGODB_URL ? engine.stop : async () => {})
}

/**
 * Starts a MongoDB for a test alone and creates a database on it. Uses the first of: the server at `TEST_MONGODB_URL`; the
 * engine that `TEST_MONGODB_ENGINE` names (`docker`, `secantusdb`); `mongo:8` in Docker; secantusdb from PyPI. The engine
 * ends with this process, even after `kill -9`.
 *
 * @throws {Error} that says what to install where no engine is available.
 */
export async function startOwnMongo(env: NodeJS.ProcessEnv = process.env): Promise<TestMongodb> {
  const engine = await startEngine(env)
  try {
    return await createDatabase(engine, env, engine.stop)
  } catch (error) {
    await engine.stop(engine.url).catch(() => {})
    throw error
  }
}

/** Appends the engine to the file `FMS_ENGINES_FILE`, for the report at the end of a test run (report-engines.ts). */
async function createDatabase(
  server: MongodbEngine,
  env: NodeJS.ProcessEnv,
  stop: MongodbEngine['stop'],
): Promise<TestMongodb> {
  const url = withDatabase(server.url, `test_${randomBytes(6).toString('hex')}`)
  const engine = server.describe(await versionOf(url))
  reportEngine(env, engine)
  return { url, engine, pid: server.pid, [Symbol.asyncDispose]: () => stop(url) }
}

/**
 * Starts a standalone server, which the stores refuse.
 *
 * @returns undefined without secantusdb. The report of the test run then says that the refusal was not tested.
 */
export async function startStandaloneMongo(): Promise<TestMongodb | undefined> {
  const python = installedSecantusDb()
  if (!python) {
    reportToolchain('Refusal of a standalone MongoDB: not tested, secantusdb is not installed.')
    return undefined
  }
  const server = await startSecantusDb(python, ['--standalone'])
  const url = withDatabase(server.url, 'test')
  return { url, engine: 'secantusdb', pid: server.pid, [Symbol.asyncDispose]: () => server.stop(url) }
}

/**
 * Installs secantusdb if tests would use it: once per test run, before its workers start.
 *
 * @returns why there is no MongoDB to test on, which `env` keeps for the next call; undefined where there is one.
 */
export async function prepareEngine(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  if (env[missingEngine] || env.TEST_MONGODB_URL || env.TEST_MONGODB_ENGINE || installedSecantusDb()) {
    return env[missingEngine]
  }
  if (await isDockerRunning(env)) return undefined
  try {
    await installSecantusDb(env)
  } catch (error) {
    env[missingEngine] = `Docker does not run; secantusdb: ${(error as Error).message}`
  }
  return env[missingEngine]
}

/** Adds an engine to the report at the end of a test run. */
export function reportEngine(env: NodeJS.ProcessEnv, engine: string): void {
  if (env.FMS_ENGINES_FILE) appendFileSync(env.FMS_ENGINES_FILE, `${engine}\n`)
}

async function startEngine(env: NodeJS.ProcessEnv): Promise<MongodbEngine> {
  if (env.TEST_MONGODB_URL) return externalServer(env.TEST_MONGODB_URL)
  if (env.TEST_MONGODB_ENGINE) return engineNamed(env.TEST_MONGODB_ENGINE)(env)
  if (await isDockerRunning(env)) return startContainer()
  try {
    return await startSecantusDb(await installSecantusDb(env))
  } catch (cause) {
    throw new Error(
      'There is no MongoDB to test on. Set TEST_MONGODB_URL, start Docker, or put Python 3.11 on the PATH.',
      { cause },
    )
  }
}

function engineNamed(name: string) {
  if (Object.hasOwn(engines, name)) return engines[name as keyof typeof engines]
  throw new Error(`TEST_MONGODB_ENGINE must be ${Object.keys(engines).join(', ')}; it is ${name}`)
}

async function versionOf(url: string): Promise<string> {
  await using client = new MongoClient(url)
  return (await client.db().admin().buildInfo()).version
}

/** Replaces the database of a URL. Credentials keep their `authSource`. */
function withDatabase(url: string, database: string): string {
  const [, server, credentials, path = '', query = ''] =
    /^(\w+(?:\+\w+)?:\/\/(.+@)?[^/?]+)(?:\/([^?]*))?(?:\?(.*))?$/.exec(url) ?? []
  if (!server) throw new Error(`TEST_MONGODB_URL is not a MongoDB URL: ${url}`)
  const parameters = new URLSearchParams(query)
  if (credentials && !parameters.has('authSource')) parameters.set('authSource', path || 'admin')
  return `${server}/${database}${parameters.size ? `?${parameters}` : ''}`
}
