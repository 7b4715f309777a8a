import { migrateDirectoryStore } from '@fms/directory-store'
import { migrateFormsStore } from '@fms/forms-store'
import { startMongo } from '@fms/testkit/mongodb'
import { startDurableMongo } from './durable-mongodb.ts'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

/** The stores of the services, and the faults that can be injected into them. */
export interface FaultStores extends AsyncDisposable {
  /** Environment variables of the services. */
  env: NodeJS.ProcessEnv
  mongo?: {
    network: TcpProxy
    /** Process id of the engine; undefined when it runs elsewhere. */
    readonly pid: number | undefined
    /** Undefined unless the engine keeps acknowledged writes when it is killed (`FAULT_MONGODB`). */
    killAndRestart: (() => Promise<void>) | undefined
  }
}

/** @param kind `sqlite`: files of the services; `mongodb`: a MongoDB behind a proxy that can break connections. */
export const startStores = async (kind: string): Promise<FaultStores> => {
  if (kind === 'sqlite') return { env: {}, [Symbol.asyncDispose]: async () => {} }
  if (kind !== 'mongodb') throw new Error(`FAULT_STORE is sqlite or mongodb, not ${kind}`)
  const command = process.env.FAULT_MONGODB
  const durable = command ? await startDurableMongo(command) : undefined
  const engine = durable ?? (await startMongo(process.env, { quick: true }))
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
    },
    [Symbol.asyncDispose]: async () => {
      await network[Symbol.asyncDispose]()
      await engine[Symbol.asyncDispose]()
    },
  }
}
