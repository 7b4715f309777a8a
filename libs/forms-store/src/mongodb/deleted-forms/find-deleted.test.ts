import { describe, expect, it } from 'vitest'
import { givenForm, refOf } from '../../contract/given.ts'
import type { StoredForm } from '../../forms-store.ts'
import { MongoFormsStore } from '../forms-store.ts'
import { allow, startFormsStore } from '../testing.ts'

const { url, store, collections } = await startFormsStore({ quick: true })

/** A form whose delete was killed after the form was gone, before anything has found that. */
const givenKilledDelete = async (): Promise<StoredForm> => {
  const form = await givenForm(store)
  const beforeWrite = ({ collection, operation }: { collection: string; operation: string }) => {
    if (collection === 'deletions' && operation === 'set') throw new Error('killed')
  }
  await using killed = new MongoFormsStore(url, { deletedFormsDays: 30, clears: false }, { beforeWrite })
  await expect(killed.delete(refOf(form), allow)).rejects.toThrow('killed')
  expect(await store.get(refOf(form))).toBeUndefined()
  return form
}

describe('a form whose delete was killed', () => {
  it('is found without a relay', async () => {
    const form = await givenKilledDelete()

    expect(await store.getDeleted(refOf(form))).toEqual(form)
  })

  it('can be restored without a relay, by its public id, too', async () => {
    const form = await givenKilledDelete()

    expect(await store.undelete({ ...form, formRef: form.publicId }, allow)).toEqual(form)
    expect(await store.get(refOf(form))).toEqual(form)
  })

  it('can be purged without a relay', async () => {
    const form = await givenKilledDelete()

    expect(await store.purge(refOf(form), allow)).toBe(true)
    expect(await store.getDeleted(refOf(form))).toBeUndefined()
  })
})

describe('a form that exists', () => {
  it('is no deleted form because of the note of a killed delete', async () => {
    const form = await givenForm(store)
    const beforeWrite = ({ collection, operation }: { collection: string; operation: string }) => {
      if (collection === 'forms' && operation === 'delete') throw new Error('killed')
    }
    await using killed = new MongoFormsStore(url, { deletedFormsDays: 30, clears: false }, { beforeWrite })
    await expect(killed.delete(refOf(form), allow)).rejects.toThrow('killed')
    expect(await collections.deletions.count({ organizationId: form.organizationId })).toBe(1)

    expect(await store.getDeleted(refOf(form))).toBeUndefined()
    expect(await store.get(refOf(form))).toEqual(form)
  })
})
