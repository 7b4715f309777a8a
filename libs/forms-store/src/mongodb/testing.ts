import { randomUUID } from 'node:crypto'
import { MongoDatabase } from '@fms/store-kit/mongodb'
import { startMongo } from '@fms/testkit/mongodb'
import { afterAll, vi } from 'vitest'
import type { StoreUnderTest } from '../contract/forms-store.contract.ts'
import { atOnce, type OpenStore, type OpenStoreTogether } from '../contract/given.ts'
import { migrateFormsStore, openFormsStore } from '../open-forms-store.ts'
import { formsCollections } from './documents.ts'
import { MongoFormsStore } from './forms-store.ts'

/** One store for all tests of the file, on a separate engine, with access to its collections. */
export const startFormsStore = async () => {
  // Some engines scan whole collections.
  vi.setConfig({ testTimeout: 180_000 })

  const mongo = await startMongo()
  const { url } = mongo
  await migrateFormsStore(url)
  const store = new MongoFormsStore(url)
  const database = new MongoDatabase(url)
  afterAll(async () => {
    await Promise.all([store.close(), database.close()])
    await mongo[Symbol.asyncDispose]()
  })
  return { mongo, url, store, collections: formsCollections(database) }
}

/** The stores of the contract on a separate engine. `newUrl` returns the URL of a new database. */
export const startStoreUnderTest = async (): Promise<StoreUnderTest & { newUrl: () => string }> => {
  // Some engines scan whole collections.
  vi.setConfig({ testTimeout: 180_000 })

  const mongo = await startMongo()
  afterAll(() => mongo[Symbol.asyncDispose]())

  /** A new database for each store: engines for tests are slow on large collections. */
  const newUrl = () => mongo.url.replace(/\/[^/?]*(\?|$)/, `/test_${randomUUID().slice(0, 8)}$1`)
  const openAt =
    (urlOf: () => string): OpenStore =>
    async (options) => {
      const url = urlOf()
      await migrateFormsStore(url)
      return openFormsStore(url, options)
    }
  const openTogether: OpenStoreTogether = async (count) => {
    const url = newUrl()
    await migrateFormsStore(url)
    return atOnce(count, () => openFormsStore(url))
  }
  const sameUrl = newUrl()
  return {
    name: 'MongoDB',
    open: openAt(newUrl),
    openTogether,
    openSame: openAt(() => sameUrl),
    limits: { slow: true },
    newUrl,
  }
}
