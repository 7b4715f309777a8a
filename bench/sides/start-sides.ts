import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { startOwnMongo, type TestMongodb } from '@fms/testkit/mongodb'
import { startNatsServer } from '@fms/testkit/nats-server'
import { terminate } from '@fms/testkit/processes'
import { MongoClient } from 'mongodb'
import { bareForm, draftOf, formIdOf, formNameOf, isPublished } from '../load/generated-forms.ts'
import type { LoadTarget, Operation } from '../load/requests.ts'
import { type Side, type SideName, startProgram } from './processes.ts'
import { type ProductOptions, startProduct } from './start-product.ts'

export interface Sides extends AsyncDisposable {
  /** The sides with this number of forms: the product, and at the smallest size the baselines. */
  at(forms: number): Side[]
  /** The engine of the product's stores. */
  engine: string
}

export interface SidesOptions {
  sizes: readonly number[]
  operations: readonly Operation[]
  store: 'sqlite' | 'mongodb'
  /** Folder in which the services of the first size write their CPU profiles. */
  profiles?: string
}

/** URL of another database on the server of `url`. */
const databaseUrl = (url: string, name: string): string => {
  const database = new URL(url)
  database.pathname = `${database.pathname}-${name}`
  return database.href
}

/** Drops a database of a server that was there before. An engine that was started ends with all of its data. */
const dropDatabase = async ({ pid }: TestMongodb, url: string): Promise<void> => {
  if (pid !== undefined) return
  await using client = new MongoClient(url)
  await client.db().dropDatabase()
}

/** Starts every side on its own data, in a folder that is removed at the end. */
export const startSides = async ({ sizes, operations, store, profiles }: SidesOptions): Promise<Sides> => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  await using stack = new AsyncDisposableStack()
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const mongodb = store === 'mongodb' ? stack.use(await startOwnMongo()) : undefined
  const start = async (name: string, options: Omit<ProductOptions, 'folder' | 'mongodb'>) => {
    const subfolder = createFolder(folder, `product-${name}`)
    if (!mongodb) return stack.use(await startProduct({ ...options, folder: subfolder }))
    const url = databaseUrl(mongodb.url, name)
    stack.defer(() => dropDatabase(mongodb, url))
    return stack.use(
      await startProduct({ ...options, folder: subfolder, mongodb: { url, pid: mongodb.pid } }),
    )
  }

  const sides = new Map<number, Side[]>()
  for (const forms of sizes) {
    const isProfiled = forms === sizes[0] && profiles
    const product = await start(`${forms}`, { name: 'product', forms, ...(isProfiled && { profiles }) })
    sides.set(forms, [product])
  }
  const forms = Math.min(...sizes)
  const bareUrl = mongodb && databaseUrl(mongodb.url, 'bare')
  if (bareUrl) stack.defer(() => dropDatabase(mongodb, bareUrl))
  const baselines = bareUrl
    ? [await startBareMongodb(mongodb, bareUrl, forms)]
    : await startBareForms(createFolder(folder, 'bare'), forms)
  for (const side of baselines) stack.use(side)
  sides.get(forms)!.push(...baselines)
  if (!mongodb && operations.includes('publish')) {
    const three = await start('three', { name: 'three', forms, publishers: 3, operations: ['publish'] })
    const roundTrips = stack.use(await startRoundTrips(createFolder(folder, 'round-trips')))
    sides.get(forms)!.push(three, roundTrips)
  }

  const started = stack.move()
  return {
    at: (forms) => sides.get(forms)!,
    engine: mongodb?.engine ?? 'SQLite',
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  }
}

const createFolder = (parent: string, name: string): string => {
  const path = join(parent, name)
  mkdirSync(path)
  return path
}

const bareOperations: readonly Operation[] = [
  'get',
  'live',
  'live 304',
  'list',
  'filtered list',
  'search',
  'create',
  'patch',
]
const bareMongodbOperations: readonly Operation[] = ['get', 'list', 'create', 'patch', 'publish']

type BareServer = Awaited<ReturnType<typeof startProgram<{ origin: string }>>>

/** @param pids those of all processes of the side, by name. */
const bareSide = (
  name: SideName,
  operations: readonly Operation[],
  { child, message }: BareServer,
  forms: number,
  pids: Record<string, number[]>,
): Side => {
  const target: LoadTarget = {
    baseUrl: `${message.origin}/v2`,
    organizationId: bareOrganization,
    otherOrganizationId: formIdOf(-2),
    forms,
    apiKeys: ['none'],
    filter: 'plain',
  }
  return {
    name,
    operations,
    pids: () => pids,
    load: (operation, connections) => ({ kind: 'http', operation, target, connections }),
    [Symbol.asyncDispose]: () => terminate(child),
  }
}

/** Id of the organization whose forms bare servers have. */
const bareOrganization = formIdOf(-1)

/** Starts B0 with `forms` forms, and B1 in front of the same process. */
const startBareForms = async (folder: string, forms: number): Promise<Side[]> => {
  const file = join(folder, 'bare.db')
  seed(file, forms)
  const bare: BareServer = await startProgram('bare-server.ts', file)
  const proxy: BareServer = await startProgram('bare-server.ts', bare.message.origin)
  const pids = { bare: [bare.child.pid!] }
  return [
    bareSide('B0', bareOperations, bare, forms, pids),
    bareSide('B1', bareOperations, proxy, forms, { ...pids, proxy: [proxy.child.pid!] }),
  ]
}

/** Schema of B0: one row per form, an index for each of its two lists, and the live revisions. */
const schema = `
  PRAGMA journal_mode = WAL;
  CREATE TABLE forms (
    id TEXT NOT NULL PRIMARY KEY,
    organizationId TEXT NOT NULL,
    name TEXT NOT NULL,
    updateTime INTEGER NOT NULL,
    document TEXT NOT NULL
  ) STRICT;
  CREATE INDEX forms_by_updateTime ON forms (organizationId, updateTime DESC, id);
  CREATE INDEX forms_by_name ON forms (organizationId, name);
  CREATE TABLE liveRevisions (
    formId TEXT NOT NULL PRIMARY KEY,
    organizationId TEXT NOT NULL,
    etag TEXT NOT NULL,
    document TEXT NOT NULL
  ) STRICT;
`

const seed = (file: string, forms: number): void => {
  using database = new DatabaseSync(file)
  database.exec(schema)
  database.exec('BEGIN')
  const insert = database.prepare('INSERT INTO forms VALUES (?, ?, ?, ?, ?)')
  const insertLive = database.prepare('INSERT INTO liveRevisions VALUES (?, ?, ?, ?)')
  const startTime = Date.now() - forms * 1000
  for (let number = 0; number < forms; number++) {
    const [id, updateTime] = [formIdOf(number), startTime + number * 1000]
    const form = bareForm(bareOrganization, id, 'abcdefghij', draftOf(number), 0)
    insert.run(id, bareOrganization, formNameOf(number), updateTime, JSON.stringify(form))
    if (!isPublished(number, forms)) continue
    const path = `${form.path}/revisions/${id}`
    const revision = { path, alternateIds: ['live'], createTime: form.createTime, form }
    insertLive.run(id, bareOrganization, `"${number}"`, JSON.stringify(revision))
  }
  database.exec('COMMIT')
}

/** Starts J: a nats-server with the product's settings, and a worker. */
const startRoundTrips = async (folder: string): Promise<Side> => {
  const nats = await startNatsServer({ dataDir: folder })
  const { child } = await startProgram('round-trip-worker.ts', nats.urls.publisher)
  return {
    name: 'J',
    operations: ['publish'],
    pids: () => ({ nats: [nats.pid], worker: [child.pid!] }),
    load: (_operation, inFlight) => ({ kind: 'round trips', natsUrl: nats.urls.gateway, inFlight }),
    async [Symbol.asyncDispose]() {
      await terminate(child)
      await nats.stop()
    },
  }
}

/** Starts M, a bare server with the MongoDB driver, with `forms` forms in a database on the product's engine. */
const startBareMongodb = async ({ pid }: TestMongodb, url: string, forms: number): Promise<Side> => {
  const args = [url, bareOrganization, `${forms}`]
  const bare: BareServer = await startProgram('bare-mongodb-server.ts', ...args)
  const pids = { bare: [bare.child.pid!], ...(pid && { mongodb: [pid] }) }
  return bareSide('M', bareMongodbOperations, bare, forms, pids)
}
