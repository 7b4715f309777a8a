import { randomUUID } from 'node:crypto'
import { startMongo } from '@fms/testkit/mongodb'
import { afterAll, vi } from 'vitest'
import { directoryStoreContract } from '../directory-store.contract.ts'
import { migrateDirectoryStore, openDirectoryStore } from '../open-directory-store.ts'

// Engines for tests are slower than MongoDB.
vi.setConfig({ testTimeout: 180_000 })

const mongo = await startMongo()
afterAll(() => mongo[Symbol.asyncDispose]())

const newUrl = () => mongo.url.replace(/\/[^/?]*(\?|$)/, `/test_${randomUUID().slice(0, 8)}$1`)

const open = async (now: () => Date) => {
  const url = newUrl()
  await migrateDirectoryStore(url)
  return openDirectoryStore(url, now)
}

directoryStoreContract('MongoDB', open, { slow: true })
