import { MongoDatabase } from '@fms/store-kit/mongodb'
import { startMongo } from '@fms/testkit/mongodb'
import { afterAll, vi } from 'vitest'
import type { FormsStore } from '../forms-store.ts'
import { migrateFormsStore } from '../open-forms-store.ts'
import { formsCollections } from './documents.ts'
import { MongoFormsStore } from './forms-store.ts'

/** A check that lets every form be deleted. */
export const allow = () => {}

/** One store for all tests of the file, on an engine of its own, with a look into its collections. */
export const startFormsStore = async () => {
  // FerretDB looks at every document of a collection.
  vi.setConfig({ testTimeout: 180_000 })

  const mongo = await startMongo()
  const { url, engine } = mongo
  await migrateFormsStore(url)
  const store = new MongoFormsStore(url)
  const database = new MongoDatabase(url)
  afterAll(async () => {
    await Promise.all([store.close(), database.close()])
    await mongo[Symbol.asyncDispose]()
  })

  /** Runs `work` as a process that is killed after so many writes. @returns whether it was. */
  const killedAfter = async (
    writes: number,
    work: (mortal: FormsStore) => Promise<unknown>,
  ): Promise<boolean> => {
    const death = new Error('killed')
    let left = writes
    const beforeWrite = () => {
      if (left-- <= 0) throw death
    }
    await using mortal = new MongoFormsStore(url, {}, { beforeWrite, clears: false })
    try {
      await work(mortal)
      return false
    } catch (error) {
      if (error !== death) throw error
      return true
    }
  }

  return { url, engine, store, collections: formsCollections(database), killedAfter }
}
