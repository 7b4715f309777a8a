import { randomUUID } from 'node:crypto'
import { type FormsStore, makePublicId, migrateFormsStore, openFormsStore } from '@fms/forms-store'
import type { TestMongodb } from '@fms/testkit/mongodb'
import { sampleFormRecord } from '@fms/testkit/sample-form-record'
import { type Document, MongoClient } from 'mongodb'
import { trigramsOf } from '../../libs/forms-store/src/lists/name-trigrams.ts'
import { documentIdOf } from '../../libs/forms-store/src/mongodb/find-form.ts'
import { addGrowth } from '../../libs/forms-store/src/mongodb/usage.ts'
import { draftOf, formIdOf, formNameOf, formTimeOf } from './generated-forms.ts'

/** Documents of one insert. */
const batchSize = 1_000

interface Forms {
  organizationId: string
  /** Number of forms. */
  count: number
  /** Time of the creation and the last update of a form, in milliseconds since the epoch. */
  timeOf: (number: number) => number
  /** Called after each batch with the number of forms that were added so far. */
  onProgress?: (added: number) => void
}

/**
 * Fills an organization of a forms store. The store imports one form; the others are copies of its document, which are
 * inserted without the store, together with their public ids and usage.
 *
 * @param url `mongodb://…/DATABASE`, migrated.
 */
export const fillMongodb = async (
  url: string,
  { organizationId, count, timeOf, onProgress = () => {} }: Forms,
): Promise<void> => {
  await importFirst(url, organizationId, timeOf(0))
  await using client = new MongoClient(url, { w: 1 })
  const database = client.db()
  const collection = (name: string) => database.collection<Document>(name)
  const form = (await collection('forms').findOne({ organizationId }))!
  for (let from = 1; from < count; from += batchSize) {
    const copies = Array.from({ length: Math.min(batchSize, count - from) }, (_, index) =>
      copyOf(form, from + index, timeOf(from + index)),
    )
    await collection('publicIds').insertMany(copies.map(reservationOf))
    await collection('forms').insertMany(copies)
    onProgress(from + copies.length)
  }
  const growth = { forms: count - 1, bytes: (count - 1) * form.bytes, revisions: 0, revisionBytes: 0 }
  const { update, by } = addGrowth(organizationId, growth)
  await collection('growth').updateOne(update as Document, by, { upsert: true })
}

const importFirst = async (url: string, organizationId: string, time: number): Promise<void> => {
  await using store = await openFormsStore(url)
  await store.importForm(
    sampleFormRecord({
      organizationId,
      formId: formIdOf(0),
      publicId: makePublicId(),
      time: new Date(time).toISOString(),
      draft: draftOf(0),
    }),
  )
}

/** The form with this number. All names are equally long, so that `bytes` stays. */
const copyOf = (form: Document, number: number, time: number): Document => {
  const name = formNameOf(number)
  const foldedName = name.toLowerCase()
  return {
    ...form,
    _id: documentIdOf({ organizationId: form.organizationId, formId: formIdOf(number) }),
    publicId: makePublicId(),
    incarnation: randomUUID(),
    createTime: time,
    updateTime: time,
    name,
    foldedName,
    nameTrigrams: trigramsOf(foldedName),
    draft: form.draft.replace(form.name, name),
  }
}

const reservationOf = ({ _id, organizationId, publicId }: Document): Document => ({
  _id: publicId,
  organizationId,
  formId: _id.slice(_id.lastIndexOf('/') + 1),
})

/** An organization of one size in a database of its own. */
export interface StoredOrganization extends AsyncDisposable {
  url: string
  store: FormsStore
  organizationId: string
  forms: number
}

/**
 * Creates a forms store in a new database, with one organization. Disposing drops the database.
 *
 * @param name of the database, unique on the engine in this process.
 * @param onProgress called with the number of forms that were added so far.
 */
export const seedOrganization = async (
  engine: TestMongodb,
  name: string,
  forms: number,
  onProgress: (added: number) => void,
): Promise<StoredOrganization> => {
  const url = databaseUrl(engine.url, name)
  await migrateFormsStore(url)
  const organizationId = formIdOf(-1)
  await fillMongodb(url, { organizationId, count: forms, timeOf: formTimeOf, onProgress })
  const store = await openFormsStore(url)
  return {
    url,
    store,
    organizationId,
    forms,
    [Symbol.asyncDispose]: async () => {
      await store.close()
      await dropDatabase(engine, url)
    },
  }
}

/** URL of another database on the server of `url`. */
export const databaseUrl = (url: string, name: string): string => {
  const database = new URL(url)
  database.pathname = `${database.pathname}-${name}`
  return database.href
}

/** Drops a database of a server that was there before. An engine that was started ends with all of its data. */
export const dropDatabase = async ({ pid }: TestMongodb, url: string): Promise<void> => {
  if (pid !== undefined) return
  await using client = new MongoClient(url)
  await client.db().dropDatabase()
}
