import { randomUUID } from 'node:crypto'
import type { MigrationStep } from '@fms/store-kit'
import {
  MongoDatabase,
  metaCollection,
  migrateMongodb,
  readCompatibleNote,
  type SchemaDocument,
} from '@fms/store-kit/mongodb'
import { startMongo } from '@fms/testkit/mongodb'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { logOf } from '../contract/events/log-of.ts'
import { edited, newForm, newRevision, refOf } from '../contract/given.ts'
import { migrateFormsStore, openFormsStore } from '../open-forms-store.ts'
import { newFormDocument, newRevisionDocument } from './convert-documents.ts'
import { type FormDocument, formsCollections, type RevisionDocument } from './documents.ts'
import { formsChanges } from './fill-missing-fields.ts'
import { formsSchema } from './schema.ts'

vi.setConfig({ testTimeout: 180_000 })

const mongo = await startMongo()
afterAll(() => mongo[Symbol.asyncDispose]())

const newUrl = () => mongo.url.replace(/\/[^/?]*(\?|$)/, `/test_${randomUUID().slice(0, 8)}$1`)

/** jongodb cannot drop indexes, so that a store of schema version 2 has none there. */
const canDrop = !mongo.engine.startsWith('jongodb')

/** Indexes of schema version 2 that version 3 does not have. */
const version2Indexes = [
  { collection: 'forms', name: 'forms_by_publicId', key: { organizationId: 1, publicId: 1 }, unique: true },
  { collection: 'forms', name: 'forms_by_order', key: { organizationId: 1, publicId: 1, updateTime: 1 } },
] as const
const formerIndexes = canDrop ? version2Indexes : []

/** A store of schema version 2, in which documents of version 1 are left. Its usage has drifted. */
const givenOldStore = async () => {
  const url = newUrl()
  await using database = new MongoDatabase(url)
  for (const index of formerIndexes) await database.createIndex(index)
  const { forms, revisions, usage } = formsCollections(database)
  const organizationId = randomUUID()
  const given = ['Größe', 'Longer name', 'Third'].map((name) =>
    newForm({ organizationId, draft: { name, aiHandoff: { enabled: true } } }),
  )
  const revision = newRevision(given[0]!)
  for (const form of given) {
    const { bytes, aiHandoff, nameTrigrams, incarnation, ...old } = newFormDocument(form, '')
    await forms.insert(old as FormDocument)
  }
  const { bytes, incarnation, revisionId, publisher, note, ...oldRevision } = newRevisionDocument(
    revision,
    '',
  )
  await revisions.insert({ ...oldRevision, _id: revisionId } as RevisionDocument)
  const drifted = { _id: organizationId, organizationId, forms: 9, bytes: 1, countTime: Date.now() }
  await usage.insert(drifted as never)
  // Its last form is deleted.
  const emptied = randomUUID()
  await usage.insert({ ...drifted, _id: emptied, organizationId: emptied } as never)
  const meta = database.collection<SchemaDocument>(metaCollection)
  await meta.insert({ _id: 'forms', version: 2, oldestVersion: 2 })
  const sizes = [...given.map(({ draftJson }) => draftJson), revision.formJson].map((text) =>
    Buffer.byteLength(text),
  )
  return { url, organizationId, emptied, forms: given, bytes: sizes.reduce((sum, size) => sum + size) }
}

const indexNames = async (url: string) => {
  await using database = new MongoDatabase(url)
  const names = Object.keys(formsCollections(database)).map(async (name) => database.indexNames(name))
  return (await Promise.all(names))
    .flat()
    .filter((name) => name !== '_id_')
    .sort()
}

describe('formctl migrate from schema version 2', () => {
  it('survives a kill at any point, and drops former indexes once the new ones exist', async () => {
    const fresh = newUrl()
    await migrateFormsStore(fresh)
    const { url, organizationId, emptied, forms, bytes } = await givenOldStore()
    const needed = formsSchema.indexes.map(({ name }) => name)

    let isKilled = true
    for (let writes = 0; isKilled; writes++) {
      let left = writes
      const beforeWrite = () => {
        if (left-- <= 0) throw new Error('killed')
      }
      const options = { changes: formsChanges, beforeWrite, exclusionMs: 0 }
      isKilled = await migrateMongodb(url, formsSchema, options).then(
        () => false,
        (error) => {
          expect(error.message).toBe('killed')
          return true
        },
      )
      const names = await indexNames(url)
      const areComplete = needed.every((name) => names.includes(name))
      if (!areComplete) expect(names).toEqual(expect.arrayContaining(formerIndexes.map(({ name }) => name)))
    }

    expect(await indexNames(url)).toEqual(await indexNames(fresh))
    await using store = await openFormsStore(url)
    await store.ping()
    expect(await store.usage(organizationId)).toEqual({ forms: 3, bytes })
    expect(await store.usage(emptied)).toEqual({ forms: 0, bytes: 0 })
    expect((await store.revisionGrowth.total()).revisions).toBe(1)
    const filter = { kind: 'search', field: 'name', text: 'longer' } as const
    const found = await store.list({ organizationId, filter, orderBy: [], limit: 5, skip: 0 })
    expect(found.forms.map(({ formId }) => formId)).toEqual([forms[1]!.formId])
    expect(await store.get(refOf(forms[0]!))).toMatchObject({ aiHandoff: true, name: 'Größe' })
  })

  it('reports its steps, and how many documents they have changed', async () => {
    const { url } = await givenOldStore()
    const steps: MigrationStep[] = []

    await migrateFormsStore(url, (step) => steps.push(step))

    const of = formsChanges.length + formsSchema.indexes.length + formsSchema.formerIndexes!.length + 1
    expect(new Set(steps.map(({ number }) => number)).size).toBe(of)
    expect(steps.every((step) => step.of === of && step.store === 'forms')).toBe(true)
    expect(steps).toContainEqual({
      store: 'forms',
      title: 'filling fields of forms',
      number: 3,
      of,
      changed: 3,
    })
    expect(steps.at(-1)).toMatchObject({
      title: 'dropping index deletions_by_organization',
      number: of,
      changed: 0,
    })
  })

  it('leaves the usage of a store alone that is up to date', async () => {
    const { url, organizationId } = await givenOldStore()
    await migrateFormsStore(url)
    await using database = new MongoDatabase(url)
    const { usage } = formsCollections(database)
    const before = await usage.findOne({ _id: organizationId })

    await migrateFormsStore(url)

    expect(await usage.findOne({ _id: organizationId })).toEqual(before)
  })
})

describe('formctl migrate from schema version 3, that of release 0.1.0', () => {
  it('lets that release go on, and its forms have events from their next change on', async () => {
    const url = newUrl()
    await using database = new MongoDatabase(url)
    const meta = database.collection<SchemaDocument>(metaCollection)
    await meta.insert({ _id: 'forms', version: 3, oldestVersion: 3 })
    const form = newForm()
    const document = newFormDocument(form, randomUUID())
    await formsCollections(database).forms.insert(document)

    await migrateFormsStore(url)

    const version3 = { ...formsSchema, version: 3 }
    expect(await readCompatibleNote(meta, version3)).toMatchObject({ version: 4, oldestVersion: 3 })
    expect(await formsCollections(database).forms.findOne({ _id: form.formId })).toEqual(document)
    await using store = await openFormsStore(url)
    await store.update(refOf(form), (current) => edited(current, {}))
    const log = await logOf(store, form.organizationId)
    expect(log.map(({ type, sequence }) => [type, sequence])).toEqual([['form.updated', '0000000000000001']])
  })

  it('counts the revisions of organizations, also while that release changes them', async () => {
    const url = newUrl()
    await using database = new MongoDatabase(url)
    await database.collection<SchemaDocument>(metaCollection).insert({ _id: 'forms', version: 3 })
    const { forms, revisions, usage } = formsCollections(database)
    const form = newForm()
    const { organizationId } = form
    const incarnation = randomUUID()
    const [first, second] = [1, 2].map((number) =>
      newRevisionDocument(newRevision(form, { number }), incarnation),
    )
    await forms.insert(newFormDocument(form, incarnation))
    await revisions.insert(first!)
    const counted = { _id: organizationId, organizationId, forms: 1, bytes: 7, changes: 3 }
    await usage.insert({ ...counted, countTime: Date.now(), dueTime: Date.now() + 60_000, checkIn: 900 })
    let isPublished = false
    const publishMeanwhile = async ({ collection, operation }: { collection: string; operation: string }) => {
      if (collection !== 'usage' || operation !== 'set' || isPublished) return
      isPublished = true
      await usage.increment({ _id: organizationId, organizationId }, { bytes: 1, changes: 1 })
      await revisions.insert(second!)
    }

    await migrateMongodb(url, formsSchema, { changes: formsChanges, beforeWrite: publishMeanwhile })

    await using store = await openFormsStore(url)
    const bytes = first!.bytes + second!.bytes
    expect(await store.revisionGrowth.total()).toEqual({ revisions: 2, bytes })
    expect(await store.usage(organizationId)).toEqual({ forms: 1, bytes: 8 })
  })
})
