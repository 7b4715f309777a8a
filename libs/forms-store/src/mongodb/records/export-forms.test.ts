import type { FormRecord } from '@fms/contracts'
import { describe, expect, it } from 'vitest'
import { givenForm, newPublicId, refOf } from '../../contract/given.ts'
import type { StoredForm } from '../../forms-store.ts'
import { MongoFormsStore } from '../forms-store.ts'
import { startFormsStore } from '../testing.ts'

const { url } = await startFormsStore()

const allow = () => {}

/** The export of forms, during which `meanwhile` runs after the first record. */
const exportDuring = async (
  store: MongoFormsStore,
  organizationId: string,
  meanwhile: (first: FormRecord) => Promise<unknown>,
): Promise<FormRecord[]> => {
  const records: FormRecord[] = []
  for await (const record of store.exportForms(organizationId)) {
    if (records.push(record) === 1) await meanwhile(record)
  }
  return records
}

const openRestoring = () => new MongoFormsStore(url, { deletedFormsDays: 30, clears: false })

const idsOf = (forms: readonly { formId: string }[]) => forms.map(({ formId }) => formId).sort()

const givenDeleted = async (store: MongoFormsStore, fields: Partial<StoredForm>): Promise<StoredForm> => {
  const form = await givenForm(store, fields)
  await store.delete(refOf(form), allow)
  return form
}

describe('an export during an undelete', () => {
  it('has the form once if it is restored while the other forms are read', async () => {
    await using store = openRestoring()
    const suffix = newPublicId().slice(1)
    const first = await givenForm(store, { publicId: `M${suffix}` })
    const { organizationId } = first
    // One whose public id comes before that of the other form, and one whose comes after it.
    const deleted = [
      await givenDeleted(store, { organizationId, publicId: `A${suffix}` }),
      await givenDeleted(store, { organizationId, publicId: `Z${suffix}` }),
    ]

    const records = await exportDuring(store, organizationId, async () => {
      for (const form of deleted) expect(await store.undelete(refOf(form), allow)).toBeDefined()
    })

    expect(idsOf(records)).toEqual(idsOf([first, ...deleted]))
    expect(records.filter(({ deletion }) => deletion)).toEqual([])
  })

  it('has the form if it is restored while the deleted forms are read', async () => {
    await using store = openRestoring()
    const one = await givenDeleted(store, {})
    const { organizationId } = one
    const two = await givenDeleted(store, { organizationId })

    const records = await exportDuring(store, organizationId, async ({ formId }) => {
      const other = formId === one.formId ? two : one
      expect(await store.undelete(refOf(other), allow)).toBeDefined()
    })

    expect(idsOf(records)).toEqual(idsOf([one, two]))
    expect(records.map(({ deletion }) => deletion !== undefined)).toEqual([true, false])
  })
})
