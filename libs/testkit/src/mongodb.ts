import { randomBytes } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { MongoClient } from 'mongodb'
import {
  externalServer,
  findJongodb,
  isDockerRunning,
  startContainer,
  startJongodb,
  startSecantusDb,
} from './mongodb-engines/engines.ts'
import { installedSecantusDb, installSecantusDb } from './mongodb-engines/install-secantusdb.ts'
import type { MongodbEngine } from './mongodb-engines/mongodb-engine.ts'

/** A database of one test, on a server that speaks MongoDB's protocol. Disposing drops the database or ends the server. */
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
  jongodb: () => startJongodb(),
} satisfies Record<string, (env: NodeJS.ProcessEnv) => Promise<MongodbEngine>>

/** Set by `prepareEngine`, for the workers of the test run: why secantusdb cannot be installed. */
const secantusDbFailure = 'FMS_SECANTUSDB_FAILURE'

export interface MongoOptions {
  /**
   * Prefers jongodb to secantusdb: for tests of whole processes, which send many requests and do not depend on how the
   * engine stores, sorts or plans.
   */
  quick?: boolean
}

/**
 * Starts a MongoDB for a test and creates a database on it. Uses the first of: the server at `TEST_MONGODB_URL`; the
 * engine that `TEST_MONGODB_ENGINE` names (`docker`, `secantusdb`, `jongodb`); `mongo:8` in Docker; secantusdb from PyPI;
 * jongodb from npm. The engine ends with this process, even after `kill -9`.
 *
 * Appends the engine to the file `FMS_ENGINES_FILE`, for the report at the end of a test run (report-engines.ts).
 *
 * @throws {Error} that says what to install where no engine is available. MongoDB suites are never skipped.
 */
export async function startMongo(
  env: NodeJS.ProcessEnv = process.env,
  options: MongoOptions = {},
): Promise<TestMongodb> {
  const server = await startEngine(env, options)
  const url = withDatabase(server.url, `test_${randomBytes(6).toString('hex')}`)
  try {
    const engine = server.describe(await versionOf(url))
    reportEngine(env, engine)
    return { url, engine, pid: server.pid, [Symbol.asyncDispose]: () => server.stop(url) }
  } catch (error) {
    await server.stop(url).catch(() => {})
    throw error
  }
}

/**
 * Installs secantusdb if tests would use it: once per test run, before its workers start.
 *
 * @returns why it cannot be installed, or undefined. Workers read the failure from `env`.
 */
export async function prepareEngine(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  if (env.TEST_MONGODB_URL || env.TEST_MONGODB_ENGINE || installedSecantusDb()) return undefined
  if (await isDockerRunning(env)) return undefined
  try {
    await installSecantusDb(env)
    return undefined
  } catch (error) {
    env[secantusDbFailure] = (error as Error).message
    return env[secantusDbFailure]
  }
}

/** Adds an engine to the report at the end of a test run. */
export function reportEngine(env: NodeJS.ProcessEnv, engine: string): void {
  if (env.FMS_ENGINES_FILE) appendFileSync(env.FMS_ENGINES_FILE, `${engine}\n`)
}

async function startEngine(env: NodeJS.ProcessEnv, { quick = false }: MongoOptions): Promise<MongodbEngine> {
  if (env.TEST_MONGODB_URL) return externalServer(env.TEST_MONGODB_URL)
  if (env.TEST_MONGODB_ENGINE) return engineNamed(env.TEST_MONGODB_ENGINE)(env)
  if (await isDockerRunning(env)) return startContainer()
  if (quick && findJongodb()) return startJongodb()
  if (!env[secantusDbFailure]) {
    const python = await installSecantusDb(env).catch(() => undefined)
    if (python) return startSecantusDb(python)
  }
  return startJongodb()
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
