import { randomUUID } from 'node:crypto'
import { MongoDatabase } from '@fms/store-kit/mongodb'
import { startMongo } from '@fms/testkit/mongodb'
import { afterAll, describe, expect, it, vi } from 'vitest'
import type { OpenStore } from '../contract/given.ts'
import { givenForm } from '../contract/given.ts'
import { formsStoreContract } from '../forms-store.contract.ts'
import type { FormsStoreOptions } from '../forms-store.ts'
import { migrateFormsStore, openFormsStore } from '../open-forms-store.ts'
import { formsCollections } from './documents.ts'

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

describe('a list on MongoDB', () => {
  const anything = { kind: 'contains', field: 'name', text: 'form' } as const
  const given = async (options: FormsStoreOptions) => {
    const store = await open(options)
    const { organizationId } = await givenForm(store)
    return { store, query: { organizationId, filter: anything, orderBy: [], limit: 10, skip: 0 } }
  }

  it('ends as FILTER_TOO_EXPENSIVE when it takes too long', async () => {
    const { store, query } = await given({ listTimeoutMs: 0 })
    await using _ = store

    await expect(store.list(query)).rejects.toMatchObject({ reason: 'FILTER_TOO_EXPENSIVE' })
  })

  it('ends when its caller has gone', async () => {
    const { store, query } = await given({})
    await using _ = store

    await expect(store.list(query, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    })
  })

  it('finds by a search what the release before wrote, once that is migrated', async () => {
    const url = newUrl()
    await migrateFormsStore(url)
    await using store = await openFormsStore(url)
    const form = await givenForm(store, { draft: { name: 'Older than the index' } })
    {
      await using database = new MongoDatabase(url)
      const { forms } = formsCollections(database)
      await forms.set({ organizationId: form.organizationId, _id: form.formId }, {
        nameTrigrams: null,
        bytes: null,
      } as object)
    }
    const filter = { kind: 'search', field: 'name', text: 'older' } as const
    const found = async () =>
      (await store.list({ organizationId: form.organizationId, filter, orderBy: [], limit: 1, skip: 0 }))
        .totalSize
    expect(await found()).toBe(0)

    await migrateFormsStore(url)

    expect(await found()).toBe(1)
  })
})
