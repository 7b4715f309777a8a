import { MongoDatabase } from '@fms/store-kit/mongodb'
import { startMongo } from '@fms/testkit/mongodb'
import { afterAll, beforeEach, vi } from 'vitest'
import { directoryStoreContract } from '../directory-store.contract.ts'
import { migrateDirectoryStore, openDirectoryStore } from '../open-directory-store.ts'
import { directorySchema } from './schema.ts'

// Engines for tests are slower than MongoDB.
vi.setConfig({ testTimeout: 180_000 })

const mongo = await startMongo()
afterAll(async () => {
  await Promise.all(databases.map((database) => database.close()))
  await mongo[Symbol.asyncDispose]()
})

const tables = new Set(directorySchema.indexes.map(({ collection }) => collection))

/** Of the first store of each test, of the second and so on. Migrated once, which takes longer than most tests. */
const databases: MongoDatabase[] = []
let opened = 0
beforeEach(() => {
  opened = 0
})

const open = async (now: () => Date) => {
  const number = opened++
  const url = mongo.url.replace(/\/[^/?]*(?=\?|$)/, `$&_${number}`)
  if (number === databases.length) {
    await migrateDirectoryStore(url)
    databases.push(new MongoDatabase(url))
  }
  for (const table of tables) await databases[number]!.collection(table).deleteMany({})
  return openDirectoryStore(url, now)
}

directoryStoreContract('MongoDB', open, { slow: true })
