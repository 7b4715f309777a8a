import { migrateDirectoryStore } from '@fms/directory-store'
import { migrateFormsStore } from '@fms/forms-store'
import { startMongo } from '@fms/testkit/mongodb'
import { startDurableMongo } from './durable-mongodb.ts'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

/** What the services keep their data in, and what can be done to it. */
export interface Surroundings extends AsyncDisposable {
  /** Environment of the services. */
  env: NodeJS.ProcessEnv
  mongo?: {
    network: TcpProxy
    /** The engine's process, where it is one of this machine. */
    readonly pid: number | undefined
    /** Where the engine keeps what it acknowledged (`FAULT_MONGODB`). */
    killAndRestart: (() => Promise<void>) | undefined
  }
}

/** SQLite files, where the services put them by themselves; or MongoDB behind a network of its own. */
export const startStores = async (kind: string): Promise<Surroundings> => {
  if (kind === 'sqlite') return { env: {}, [Symbol.asyncDispose]: async () => {} }
  if (kind !== 'mongodb') throw new Error(`FAULT_STORE is sqlite or mongodb, not ${kind}`)
  const command = process.env.FAULT_MONGODB
  const durable = command ? await startDurableMongo(command) : undefined
  const engine = durable ?? (await startMongo(process.env, { quick: true }))
  await Promise.all([migrateDirectoryStore(engine.url), migrateFormsStore(engine.url)])
  const url = new URL(engine.url)
  const network = await startTcpProxy(Number(url.port))
  url.port = `${network.port}`
  // Not past the network, to the address that a replica set knows itself by.
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
