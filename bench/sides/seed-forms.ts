import { randomUUID } from 'node:crypto'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import type { FormDraft } from '@fms/contracts'
import { makePublicId, openFormsStore } from '@fms/forms-store'
import { sampleFormRecord } from '@fms/testkit/sample-form-record'
import { type Document, MongoClient } from 'mongodb'
import { trigramsOf } from '../../libs/forms-store/src/lists/name-trigrams.ts'
import { documentIdOf } from '../../libs/forms-store/src/mongodb/find-form.ts'
import { addGrowth } from '../../libs/forms-store/src/mongodb/usage.ts'
import { trigramTokens } from '../../libs/forms-store/src/sqlite/lists/trigram-tokens.ts'
import { draftOf, formIdOf, formNameOf, isPublished, largeDraft } from '../load/generated-forms.ts'

/** Concurrent imports, which SQLite commits in batches. */
const concurrentImports = 512

/** Beyond this number, unpublished forms are copies of one row: a million forms take two minutes instead of ten. */
const mostImports = 10_000

/** Number of forms of `largeOrganizationId`: more than fill a page. */
const largeForms = 8

export interface SeededOrganizations {
  organizationId: string
  largeOrganizationId: string
}

/**
 * Fills the organizations: on SQLite both, with published forms, on MongoDB the first, without revisions. Its `count`
 * forms have update times one second apart.
 */
export const seedForms = async (
  url: string,
  { organizationId, largeOrganizationId }: SeededOrganizations,
  count: number,
): Promise<void> => {
  const startTime = Date.now() - count * 1000
  const timeOf = (number: number) => startTime + number * 1000
  const isMongodb = url.startsWith('mongodb:')
  const isImported = (number: number) =>
    isMongodb ? number === 0 : number <= mostImports || isPublished(number, count)
  const numbers = Array.from({ length: count }, (_, number) => number)
  const recordOf = (organizationId: string, formId: string, draft: FormDraft, time: number, revisions = 0) =>
    sampleFormRecord({
      organizationId,
      formId,
      publicId: makePublicId(),
      time: new Date(time).toISOString(),
      draft,
      revisions,
    })
  {
    await using store = await openFormsStore(url)
    const imported = numbers.filter(isImported)
    for (let from = 0; from < imported.length; from += concurrentImports)
      await Promise.all(
        imported.slice(from, from + concurrentImports).map((number) => {
          const revisions = !isMongodb && isPublished(number, count) ? 1 : 0
          return store.importForm(
            recordOf(organizationId, formIdOf(number), draftOf(number), timeOf(number), revisions),
          )
        }),
      )
    for (let number = 0; number < (isMongodb ? 0 : largeForms); number++)
      await store.importForm(recordOf(largeOrganizationId, randomUUID(), largeDraft(), startTime))
  }
  const copied = numbers.filter((number) => !isImported(number))
  if (copied.length === 0) return
  if (isMongodb) await copyDocuments(url, organizationId, copied, timeOf)
  else copyRows(url.slice('sqlite:'.length), copied, timeOf)
}

/** Documents of one insert. */
const batchSize = 1_000

/** Copies the first form of an organization without the store, together with its public id and usage. */
const copyDocuments = async (
  url: string,
  organizationId: string,
  numbers: readonly number[],
  timeOf: (number: number) => number,
): Promise<void> => {
  await using client = new MongoClient(url, { w: 1 })
  const collection = (name: string) => client.db().collection<Document>(name)
  const form = (await collection('forms').findOne({ organizationId }))!
  for (let from = 0; from < numbers.length; from += batchSize) {
    const copies = numbers.slice(from, from + batchSize).map((number) => copyOf(form, number, timeOf(number)))
    await collection('publicIds').insertMany(copies.map(reservationOf))
    await collection('forms').insertMany(copies)
  }
  const growth = {
    forms: numbers.length,
    bytes: numbers.length * form.bytes,
    revisions: 0,
    revisionBytes: 0,
  }
  const { update, by } = addGrowth(organizationId, growth)
  await collection('growth').updateOne(update as Document, by, { upsert: true })
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

/** Rows per transaction. */
const rowsPerTransaction = 50_000

/** Inserts rows without the store. The data is disposable, so that nothing is synced to disk. */
const copyRows = (file: string, numbers: readonly number[], timeOf: (number: number) => number) => {
  using database = new DatabaseSync(file)
  database.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000')
  const unpublished = 'SELECT * FROM forms WHERE revisionNumber = 0 AND name LIKE ? LIMIT 1'
  const { id: _, ...template } = database.prepare(unpublished).get('Customer feedback %') as {
    [column: string]: SQLInputValue
  }
  const columns = Object.keys(template)
  const insert = database.prepare(
    `INSERT INTO forms (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
  )
  const indexName = database.prepare(
    'INSERT INTO formTrigrams (rowid, tokens) VALUES (CAST(? AS INTEGER), ?)',
  )
  indexName.setReadBigInts(true)
  const use = database.prepare(
    'UPDATE usage SET forms = forms + 1, bytes = bytes + ? WHERE organizationId = ?',
  )
  for (let from = 0; from < numbers.length; from += rowsPerTransaction) {
    database.exec('BEGIN')
    for (const number of numbers.slice(from, from + rowsPerTransaction)) {
      const [name, time] = [formNameOf(number), timeOf(number)]
      const row: Record<string, SQLInputValue> = {
        ...template,
        formId: formIdOf(number),
        publicId: makePublicId(),
        createTime: time,
        updateTime: time,
        changeTime: time,
        name,
        foldedName: name.toLowerCase(),
        draft: `${template.draft}`.replace(`${template.name}`, name),
      }
      const { lastInsertRowid } = insert.run(...columns.map((column) => row[column]!))
      indexName.run(lastInsertRowid, trigramTokens(`${row.organizationId}`, `${row.foldedName}`))
      use.run(Buffer.byteLength(`${row.draft}`), `${row.organizationId}`)
    }
    database.exec('COMMIT')
  }
}
