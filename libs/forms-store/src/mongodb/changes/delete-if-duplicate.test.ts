import type { BeforeWrite } from '@fms/store-kit/mongodb'
import { describe, expect, it } from 'vitest'
import { newForm, refOf } from '../../contract/given.ts'
import { operatorContext } from '../../events/recorded-event.ts'
import type { FormsStore, StoredForm } from '../../forms-store.ts'
import { toFormRecord } from '../../stored-form-record.ts'
import { MongoFormsStore } from '../forms-store.ts'
import { startFormsStore } from '../testing.ts'

const { url, store, collections } = await startFormsStore({ quick: true })

const create = (on: FormsStore, form: StoredForm) => on.create(form, operatorContext, { hasClientId: true })

const importForm = (on: FormsStore, form: StoredForm) =>
  on.importForm(
    toFormRecord(form, {
      revisionNumber: 0,
      liveNumber: 0,
      liveRevisionId: null,
      revisions: [],
      replyIds: [],
    }),
  )

/** A store in which `meanwhile` runs before its first insert of a form. */
const openDelayed = (meanwhile: () => Promise<unknown>): MongoFormsStore => {
  let isFirst = true
  const beforeWrite: BeforeWrite = async ({ collection, operation }) => {
    if (collection !== 'forms' || operation !== 'insert' || !isFirst) return
    isFirst = false
    await meanwhile()
  }
  return new MongoFormsStore(url, { clears: false }, { beforeWrite })
}

/** Two states of a form with one id, and a new public id each. */
const givenIds = (): [StoredForm, StoredForm] => {
  const form = newForm()
  const { organizationId, formId } = form
  return [form, newForm({ organizationId, formId, draft: { name: 'Another' } })]
}

const typesOf = async ({ organizationId }: StoredForm): Promise<string[]> => {
  while ((await store.events.collect(100)) > 0);
  const events = await store.events.read({ organizationId, descending: false, limit: 100 })
  return events.map(({ type }) => type)
}

const expectSingle = async (form: StoredForm): Promise<void> => {
  const { organizationId } = form
  expect(await collections.forms.count({ organizationId })).toBe(1)
  expect(await store.get(refOf(form))).toMatchObject({ publicId: form.publicId })
  expect((await store.usage(organizationId)).forms).toBe(1)
}

describe('a create with a chosen id and an import of a form with this id', () => {
  it('leave the created form if the import stores its form later', async () => {
    const [created, imported] = givenIds()
    await using delayed = openDelayed(() => create(store, created))

    await expect(importForm(delayed, imported)).rejects.toMatchObject({ reason: 'FORM_CONFLICT' })

    await expectSingle(created)
    const types = ['form.created', 'form.deleted', 'form.imported']
    expect((await typesOf(created)).map((type) => type.split('.').slice(-2).join('.')).sort()).toEqual(types)
    expect(await store.create(newForm({ publicId: imported.publicId }))).toBeDefined()
  })

  it('leave the imported form if the create stores its form later', async () => {
    const [created, imported] = givenIds()
    await using delayed = openDelayed(() => importForm(store, imported))

    await expect(create(delayed, created)).rejects.toMatchObject({ reason: 'FORM_ID_TAKEN' })

    await expectSingle(imported)
    expect(await store.create(newForm({ publicId: created.publicId }))).toBeDefined()
  })
})
