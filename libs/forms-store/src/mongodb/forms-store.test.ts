import { MongoDatabase } from '@fms/store-kit/mongodb'
import { describe, expect, it } from 'vitest'
import { formsStoreContract } from '../contract/forms-store.contract.ts'
import { givenForm, newRevision, refOf } from '../contract/given.ts'
import type { FormsStoreOptions } from '../forms-store.ts'
import { migrateFormsStore, openFormsStore } from '../open-forms-store.ts'
import { newRevisionDocument } from './convert-documents.ts'
import { formsCollections } from './documents.ts'
import { startStoreUnderTest } from './testing.ts'

const { newUrl, ...store } = await startStoreUnderTest()
const { open } = store

formsStoreContract(store, ['reads'])

describe('a revision of release 0.1.0 on MongoDB', () => {
  it('has no publisher and no note', async () => {
    const url = newUrl()
    await migrateFormsStore(url)
    await using store = await openFormsStore(url)
    await using database = new MongoDatabase(url)
    const form = await givenForm(store)
    const { forms, revisions } = formsCollections(database)
    const key = { organizationId: form.organizationId, _id: form.formId }
    const { incarnation } = (await forms.findOne(key))!
    const revision = newRevision(form)
    const { publisher: _, note: __, ...document } = newRevisionDocument(revision, incarnation)
    await revisions.insert(document)
    await forms.set(key, { revisionNumber: 1, liveNumber: 1, liveRevisionId: revision.revisionId })

    const found = await store.getRevision(refOf(form), 'live')
    expect(found!.revision).toEqual({ ...revision, publisher: '', note: '' })
  })
})

describe('a list on MongoDB', () => {
  const anything = { kind: 'contains', field: 'name', text: 'form' } as const
  const given = async (options: FormsStoreOptions) => {
    const store = await open(options)
    const { organizationId } = await givenForm(store)
    return { store, query: { organizationId, filter: anything, orderBy: [], limit: 10, skip: 0 } }
  }

  it('fails with FILTER_TOO_EXPENSIVE when it exceeds its time limit', async () => {
    const { store, query } = await given({ listTimeoutMs: 0 })
    await using _ = store

    await expect(store.list(query)).rejects.toMatchObject({ reason: 'FILTER_TOO_EXPENSIVE' })
    await expect(store.listDeleted(query)).rejects.toMatchObject({ reason: 'FILTER_TOO_EXPENSIVE' })
  })

  it('ends when its signal aborts', async () => {
    const { store, query } = await given({})
    await using _ = store
    const aborted = { signal: AbortSignal.abort() }

    await expect(store.list(query, aborted)).rejects.toMatchObject({ name: 'AbortError' })
    await expect(store.listDeleted(query, aborted)).rejects.toMatchObject({ name: 'AbortError' })
  })

  it('finds documents of the previous release by search after a migration', async () => {
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
