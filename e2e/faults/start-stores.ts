import { migrateDirectoryStore } from '@fms/directory-store'
import { migrateFormsStore } from '@fms/forms-store'
import { reportEngine, startMongo } from '@fms/testkit/mongodb'
import { secantusDbArgs } from '@fms/testkit/mongodb/engines'
import { installSecantusDb, secantusVersion } from '@fms/testkit/mongodb/install-secantusdb'
import { type Document, MongoClient } from 'mongodb'
import { type DurableMongo, startDurableMongo } from './durable-mongodb.ts'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

/** The stores of the services, and the faults that can be injected into them. */
export interface FaultStores extends AsyncDisposable {
  /** Environment variables of the services. */
  env: NodeJS.ProcessEnv
  mongo?: {
    network: TcpProxy
    /** Process id of the engine; undefined when it runs elsewhere. */
    readonly pid: number | undefined
    /** Undefined on a server that the tests did not start. */
    killAndRestart: (() => Promise<void>) | undefined
    /**
     * Makes the engine fail its next writes (`failCommand`, a failpoint of MongoDB's own tests). Undefined where the
     * engine has no failpoints.
     *
     * @param failure the members of the failpoint's `data` that describe the failure.
     */
    failWrites: ((times: number, failure: Document) => Promise<void>) | undefined
  }
}

/** @param kind `sqlite`: files of the services; `mongodb`: a MongoDB behind a proxy that can break connections. */
export const startStores = async (kind: string): Promise<FaultStores> => {
  if (kind === 'sqlite') return { env: {}, [Symbol.asyncDispose]: async () => {} }
  if (kind !== 'mongodb') throw new Error(`FAULT_STORE is sqlite or mongodb, not ${kind}`)
  const durable = await startDurable(process.env)
  const engine = durable ?? (await startMongo())
  const admin = new MongoClient(engine.url, { directConnection: true })
  await Promise.all([migrateDirectoryStore(engine.url), migrateFormsStore(engine.url)])
  const url = new URL(engine.url)
  const network = await startTcpProxy(Number(url.port))
  url.port = `${network.port}`
  // Otherwise the driver connects to the address that the replica set announces, without the proxy.
  url.searchParams.set('directConnection', 'true')
  return {
    env: { DIRECTORY_STORE_URL: url.href, FORMS_STORE_URL: url.href },
    mongo: {
      network,
      get pid() {
        return engine.pid
      },
      killAndRestart: durable?.killAndRestart,
      failWrites: (await hasFailPoints(admin)) ? failWrites(admin) : undefined,
    },
    [Symbol.asyncDispose]: async () => {
      await admin.close()
      await network[Symbol.asyncDispose]()
      await engine[Symbol.asyncDispose]()
    },
  }
}

/**
 * Starts the command `FAULT_MONGODB`, by default secantusdb.
 *
 * @returns undefined if the environment names another engine, or if secantusdb cannot be installed.
 */
const startDurable = async (env: NodeJS.ProcessEnv): Promise<DurableMongo | undefined> => {
  const { FAULT_MONGODB, TEST_MONGODB_URL, TEST_MONGODB_ENGINE = 'secantusdb' } = env
  if (FAULT_MONGODB) return startDurableMongo(FAULT_MONGODB)
  if (TEST_MONGODB_URL || TEST_MONGODB_ENGINE !== 'secantusdb') return undefined
  const python = await installSecantusDb(env).catch(() => undefined)
  if (!python) return undefined
  reportEngine(env, `secantusdb ${secantusVersion()} (PyPI)`)
  const [launcher, ...options] = secantusDbArgs('$PORT', '"$DATA_DIR"')
  return startDurableMongo([`'${python}' '${launcher}'`, ...options].join(' '))
}

const writes = ['insert', 'update', 'delete', 'findAndModify', 'bulkWrite', 'commitTransaction']

const failWrites =
  (admin: MongoClient) =>
  async (times: number, failure: Document): Promise<void> => {
    const mode = times > 0 ? { times } : 'off'
    const data = { failCommands: writes, ...failure }
    await admin.db('admin').command({ configureFailPoint: 'failCommand', mode, data })
  }

const hasFailPoints = (admin: MongoClient): Promise<boolean> =>
  failWrites(admin)(0, {}).then(
    () => true,
    () => false,
  )
