import { describe, expect, it } from 'vitest'
import { formsStoreContract } from '../contract/forms-store.contract.ts'
import { givenForm, refOf } from '../contract/given.ts'
import type { FormsStoreOptions } from '../forms-store.ts'
import { startStoreUnderTest } from './testing.ts'

const store = await startStoreUnderTest()
const { open } = store

formsStoreContract(store, ['reads'])

describe('a list on MongoDB', () => {
  const anything = { kind: 'contains', field: 'name', text: 'form' } as const
  const given = async (options: FormsStoreOptions) => {
    const store = await open(options)
    const form = await givenForm(store)
    const { organizationId } = form
    const revisions = { ...refOf(form), limit: 10, skip: 0 }
    return { store, query: { organizationId, filter: anything, orderBy: [], limit: 10, skip: 0 }, revisions }
  }

  it('fails with FILTER_TOO_EXPENSIVE when it exceeds its time limit', async () => {
    const { store, query, revisions } = await given({ listTimeoutMs: 0 })
    await using _ = store

    await expect(store.list(query)).rejects.toMatchObject({ reason: 'FILTER_TOO_EXPENSIVE' })
    await expect(store.listDeleted(query)).rejects.toMatchObject({ reason: 'FILTER_TOO_EXPENSIVE' })
    await expect(store.listRevisions(revisions)).rejects.toMatchObject({ reason: 'FILTER_TOO_EXPENSIVE' })
  })

  it('ends when its signal aborts', async () => {
    const { store, query, revisions } = await given({})
    await using _ = store
    const aborted = { signal: AbortSignal.abort() }

    await expect(store.list(query, aborted)).rejects.toMatchObject({ name: 'AbortError' })
    await expect(store.listDeleted(query, aborted)).rejects.toMatchObject({ name: 'AbortError' })
    await expect(store.listRevisions(revisions, aborted)).rejects.toMatchObject({ name: 'AbortError' })
  })
})
