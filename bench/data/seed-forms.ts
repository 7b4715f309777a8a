import { randomUUID } from 'node:crypto'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { makePublicId, openFormsStore } from '@fms/forms-store'
import { sampleFormRecord } from '@fms/testkit/sample-form-record'
import { trigramTokens } from '../../libs/forms-store/src/sqlite/lists/trigram-tokens.ts'
import { fillMongodb } from './fill-mongodb.ts'
import { draftOf, formIdOf, formNameOf, isPublished, largeDraft } from './generated-forms.ts'

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
  if (url.startsWith('mongodb:')) return fillMongodb(url, { organizationId, count, timeOf })
  const isCopied = (number: number) => number > mostImports && !isPublished(number, count)
  const numbers = Array.from({ length: count }, (_, number) => number)
  {
    await using store = await openFormsStore(url)
    const imported = numbers.filter((number) => !isCopied(number))
    for (let from = 0; from < imported.length; from += concurrentImports)
      await Promise.all(
        imported.slice(from, from + concurrentImports).map((number) =>
          store.importForm(
            sampleFormRecord({
              organizationId,
              formId: formIdOf(number),
              publicId: makePublicId(),
              time: new Date(timeOf(number)).toISOString(),
              draft: draftOf(number),
              revisions: isPublished(number, count) ? 1 : 0,
            }),
          ),
        ),
      )
    for (let number = 0; number < largeForms; number++)
      await store.importForm(
        sampleFormRecord({
          organizationId: largeOrganizationId,
          formId: randomUUID(),
          publicId: makePublicId(),
          time: new Date(startTime).toISOString(),
          draft: largeDraft(),
        }),
      )
  }
  const copied = numbers.filter(isCopied)
  if (copied.length > 0) copyForms(url.slice('sqlite:'.length), copied, timeOf)
}

/** Rows per transaction. */
const rowsPerTransaction = 50_000

/** Inserts rows without the store. The data is disposable, so that nothing is synced to disk. */
const copyForms = (file: string, numbers: readonly number[], timeOf: (number: number) => number) => {
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
