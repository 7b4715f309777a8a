import { randomUUID } from 'node:crypto'
import { startMongo } from '@fms/store-kit/testing'
import { afterAll, vi } from 'vitest'
import type { OpenStore } from '../contract/given.ts'
import { formsStoreContract } from '../forms-store.contract.ts'
import { migrateFormsStore, openFormsStore } from '../open-forms-store.ts'

// FerretDB looks at every document of a collection.
vi.setConfig({ testTimeout: 180_000 })

const mongo = await startMongo()
afterAll(() => mongo[Symbol.asyncDispose]())

/** Another database each time: engines for tests are slow to find few documents among many. */
const newUrl = () => mongo.url.replace(/\/[^/?]*(\?|$)/, `/test_${randomUUID().slice(0, 8)}$1`)

const open: OpenStore = async (options) => {
  const url = newUrl()
  await migrateFormsStore(url)
  return openFormsStore(url, options)
}

formsStoreContract('MongoDB', open, { comparesUtf16: mongo.engine.startsWith('jongodb') })
