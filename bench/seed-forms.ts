import { randomUUID } from 'node:crypto'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { type Form, type FormDraft, formPath } from '@fms/contracts'
import { type FormsStore, makePublicId, openFormsStore } from '@fms/forms-store'
import { functions } from '../libs/forms-store/src/sqlite/schema.ts'
import { draftOf, formIdOf, formNameOf, isPublished, largeDraft } from './forms.ts'

/** Imports under way at once: SQLite commits many together, MongoDB has so many connections. */
const importsAtOnce = { sqlite: 512, mongodb: 32 }

/** Beyond so many forms, the unpublished ones are copies of one row: a million takes two minutes, not ten. */
const mostImports = 10_000

/** Forms of `largeOrganizationId`, more than fill a page. */
const largeForms = 8

export interface SeededOrganizations {
  organizationId: string
  largeOrganizationId: string
}

/** Fills both organizations. Of the `count` forms of the first, each was changed a second after the one before. */
export const seedForms = async (
  url: string,
  { organizationId, largeOrganizationId }: SeededOrganizations,
  count: number,
): Promise<void> => {
  const begun = Date.now() - count * 1000
  const timeOf = (number: number) => begun + number * 1000
  const isSqlite = url.startsWith('sqlite:')
  const isCopied = (number: number) => isSqlite && number > mostImports && !isPublished(number, count)
  const numbers = Array.from({ length: count }, (_, number) => number)
  {
    await using store = await openFormsStore(url)
    const imported = numbers.filter((number) => !isCopied(number))
    const atOnce = importsAtOnce[isSqlite ? 'sqlite' : 'mongodb']
    for (let from = 0; from < imported.length; from += atOnce)
      await Promise.all(
        imported.slice(from, from + atOnce).map((number) =>
          importForm(store, {
            organizationId,
            formId: formIdOf(number),
            time: timeOf(number),
            draft: draftOf(number),
            isPublished: isPublished(number, count),
          }),
        ),
      )
    for (let number = 0; number < largeForms; number++)
      await importForm(store, {
        organizationId: largeOrganizationId,
        formId: randomUUID(),
        time: begun,
        draft: largeDraft(),
        isPublished: false,
      })
  }
  const copied = numbers.filter(isCopied)
  if (copied.length > 0) copyForms(url.slice('sqlite:'.length), copied, timeOf)
}

interface Seed {
  organizationId: string
  formId: string
  time: number
  draft: FormDraft
  isPublished: boolean
}

const importForm = (store: FormsStore, { organizationId, formId, time, draft, isPublished }: Seed) => {
  const publicId = makePublicId()
  const revisionId = randomUUID()
  const createTime = new Date(time).toISOString()
  const form = {
    ...draft,
    path: formPath({ organizationId, formId }),
    publicId,
    publicUrl: `http://127.0.0.1:8080/f/${publicId}`,
    createTime,
    updateTime: createTime,
    live: true,
    replyCount: 0,
  } as Form
  return store.importForm({
    organizationId,
    formId,
    publicId,
    createTime,
    updateTime: createTime,
    version: 1,
    draft,
    revisionNumber: isPublished ? 1 : 0,
    live: isPublished ? { revisionId, number: 1 } : null,
    revisions: isPublished ? [{ revisionId, number: 1, commandId: randomUUID(), createTime, form }] : [],
    replyCount: 0,
    replyIds: [],
  })
}

/** Rows in one transaction. */
const copiesAtOnce = 50_000

/** Inserts rows past the store, whose triggers keep its counts and indexes. Nothing is lost where the run dies. */
const copyForms = (file: string, numbers: readonly number[], timeOf: (number: number) => number) => {
  using database = new DatabaseSync(file)
  for (const [name, work] of Object.entries(functions)) database.function(name, { deterministic: true }, work)
  database.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000')
  const unpublished = 'SELECT * FROM forms WHERE revisionNumber = 0 AND name LIKE ? LIMIT 1'
  const template = database.prepare(unpublished).get('Customer feedback %') as Record<string, SQLInputValue>
  const columns = Object.keys(template)
  const insert = database.prepare(
    `INSERT INTO forms (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
  )
  for (let from = 0; from < numbers.length; from += copiesAtOnce) {
    database.exec('BEGIN')
    for (const number of numbers.slice(from, from + copiesAtOnce)) {
      const [name, time] = [formNameOf(number), timeOf(number)]
      const row: Record<string, SQLInputValue> = {
        ...template,
        formId: formIdOf(number),
        publicId: makePublicId(),
        createTime: time,
        updateTime: time,
        name,
        foldedName: name.toLowerCase(),
        draft: `${template.draft}`.replace(`${template.name}`, name),
      }
      insert.run(...columns.map((column) => row[column]!))
    }
    database.exec('COMMIT')
  }
}
