import { execFile } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { MongoClient, MongoServerError } from 'mongodb'
import { secantusVersion } from './install-secantusdb.ts'
import type { MongodbEngine } from './mongodb-engine.ts'
import { startProgram } from './start-program.ts'

const run = promisify(execFile)

/** A server that runs already. Each test creates a database on it and drops it. */
export const externalServer = (url: string): MongodbEngine => ({
  url,
  describe: (version) => `MongoDB ${version} (TEST_MONGODB_URL)`,
  stop: async (databaseUrl) => {
    await using client = new MongoClient(databaseUrl)
    // Servers without dropDatabase are made for tests and discarded as a whole.
    await client.db().dropDatabase().catch(ignoreUnknownCommand)
  },
})

const commandNotFound = 59

const ignoreUnknownCommand = (error: unknown) => {
  if (!(error instanceof MongoServerError && error.code === commandNotFound)) throw error
}

/** Whether Docker's daemon responds within 1.5 seconds. */
export const isDockerRunning = (env: NodeJS.ProcessEnv): Promise<boolean> =>
  run('docker', ['info'], { env, timeout: 1_500 }).then(
    () => true,
    () => false,
  )

/** `mongo:8` as a replica set of one, in a container. */
export const startContainer = async (): Promise<MongodbEngine> => {
  const { GenericContainer, Wait } = await import('testcontainers')
  const started = await new GenericContainer('mongo:8')
    .withCommand(['--replSet', 'rs0', '--bind_ip_all', '--setParameter', 'transactionLifetimeLimitSeconds=5'])
    .withExposedPorts(27017)
    .withWaitStrategy(Wait.forLogMessage(/Waiting for connections/))
    .start()
  const initiate =
    'rs.initiate({ _id: "rs0", members: [{ _id: 0, host: "127.0.0.1:27017" }] }); while (!db.hello().isWritablePrimary) sleep(50)'
  const { exitCode, output } = await started.exec(['mongosh', '--quiet', '--eval', initiate])
  if (exitCode !== 0) throw new Error(`The replica set does not start: ${output}`)
  return {
    url: `mongodb://${started.getHost()}:${started.getMappedPort(27017)}/?directConnection=true`,
    describe: (version) => `MongoDB ${version} (Testcontainers, mongo:8)`,
    stop: async () => {
      await started.stop()
    },
  }
}

const launcher = join(import.meta.dirname, '../../../../tools/mongodb-for-tests/secantusdb.py')

/** Arguments of the Python interpreter: secantusdb with synchronous commits and failpoints of MongoDB's own tests. */
export const secantusDbArgs = (port: string, folder: string): string[] => [
  ...[launcher, '--port', port, '--storage-path', folder],
  ...['--sync-on-commit', '--enable-test-commands'],
]

/**
 * secantusdb on a free port, with a new data folder.
 *
 * @param python interpreter that has it.
 * @param options further options, such as `--standalone`.
 */
export const startSecantusDb = async (python: string, options: string[] = []): Promise<MongodbEngine> => {
  const folder = mkdtempSync(join(tmpdir(), 'secantusdb-'))
  return {
    ...(await startProgram(python, [...secantusDbArgs('0', folder), ...options], folder)),
    describe: (version) => `secantusdb ${secantusVersion()} as ${version} (PyPI)`,
  }
}
