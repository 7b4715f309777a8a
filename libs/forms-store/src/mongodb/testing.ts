import { randomUUID } from 'node:crypto'
import { MongoDatabase, retryOnConflict } from '@fms/store-kit/mongodb'
import { type MongoOptions, startMongo } from '@fms/testkit/mongodb'
import { afterAll, vi } from 'vitest'
import type { StoreUnderTest } from '../contract/forms-store.contract.ts'
import { atOnce, type OpenStore, type OpenStoreTogether } from '../contract/given.ts'
import { updateAborted } from '../errors.ts'
import type { FormsStore } from '../forms-store.ts'
import { migrateFormsStore, openFormsStore } from '../open-forms-store.ts'
import { formsCollections } from './documents.ts'
import { MongoFormsStore } from './forms-store.ts'
import type { RetryOnConflict } from './retry-on-conflict.ts'

/** A check that permits every delete. */
export const allow = () => {}

export const retry: RetryOnConflict = (ref, attempt) => retryOnConflict(attempt, () => updateAborted(ref))

/** Undeletes and purges wait for an undelete that was killed. */
export const retryBriefly: RetryOnConflict = (ref, attempt) =>
  retryOnConflict(attempt, () => updateAborted(ref), performance.now() + 50)

/** One store for all tests of the file, on a separate engine, with access to its collections. */
export const startFormsStore = async (options?: MongoOptions) => {
  // Some engines scan whole collections.
  vi.setConfig({ testTimeout: 180_000 })

  const mongo = await startMongo(process.env, options)
  const { url } = mongo
  await migrateFormsStore(url)
  const store = new MongoFormsStore(url)
  const database = new MongoDatabase(url)
  afterAll(async () => {
    await Promise.all([store.close(), database.close()])
    await mongo[Symbol.asyncDispose]()
  })

  /** Runs `work` in a store that fails for good after `writes` writes, as a crash does. @returns whether it crashed. */
  const crashAfter = async (
    writes: number,
    work: (crashing: FormsStore) => Promise<unknown>,
  ): Promise<boolean> => {
    const crash = new Error('crashed')
    let left = writes
    const beforeWrite = () => {
      if (left-- <= 0) throw crash
    }
    await using crashing = new MongoFormsStore(url, { clears: false }, { beforeWrite })
    try {
      await work(crashing)
      return false
    } catch (error) {
      if (error !== crash) throw error
      return true
    }
  }

  return { mongo, url, store, collections: formsCollections(database), crashAfter }
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
    limits: { comparesUtf16: mongo.engine.startsWith('jongodb'), slow: true },
    newUrl,
  }
}
