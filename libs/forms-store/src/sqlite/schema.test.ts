import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { FormDraft, formOrderFields } from '@fms/contracts'
import { afterAll, expect, it } from 'vitest'
import { givenForm, publish, refOf } from '../contract/given.ts'
import { formFilterFields } from '../lists/form-fields.ts'
import { toStoredDraft } from '../stored-draft.ts'
import { SqliteFormsStore } from './forms-store.ts'
import { tokenOf } from './lists/trigram-tokens.ts'

const directory = mkdtempSync(join(tmpdir(), 'schema-'))
afterAll(() => rmSync(directory, { recursive: true }))

let files = 0
const newPath = () => join(directory, `forms-${files++}.db`)

it('never uses the id of a form again, also after a restart', async () => {
  const path = newPath()
  const ids = new Set<unknown>()
  let form: { organizationId: string; formId: string } | undefined
  for (let count = 0; count < 3; count++) {
    await using store = new SqliteFormsStore(path, { clears: false })
    const created = await givenForm(store, form)
    form = { organizationId: created.organizationId, formId: created.formId }
    await publish(store, created)
    using file = new DatabaseSync(path)
    ids.add(file.prepare('SELECT id FROM forms').get()!.id)
    await store.delete(refOf(created), () => {})
  }

  expect(ids.size).toBe(3)
  using file = new DatabaseSync(path)
  expect(file.prepare('SELECT count(DISTINCT incarnation) AS n FROM revisions').get()).toEqual({ n: 3 })
})

it('keeps one entry of the trigram index for each form, deleted or not', async () => {
  const path = newPath()
  await using store = new SqliteFormsStore(path, { deletedFormsDays: 1 })
  const { organizationId } = await givenForm(store, { draft: { name: 'First' } })
  const other = await givenForm(store, { organizationId, draft: { name: 'Second' } })
  const indexed = (trigram: string) => {
    using file = new DatabaseSync(path)
    const sql = 'SELECT rowid FROM formTrigrams WHERE formTrigrams MATCH ?'
    return file.prepare(sql).all(`"${tokenOf(organizationId, trigram)}"`).length
  }
  const matches = async (text: string) => {
    const filter = { kind: 'search', field: 'name', text } as const
    return (await store.list({ organizationId, filter, orderBy: [], limit: 1, skip: 0 })).totalSize
  }
  const renamed = toStoredDraft(FormDraft.parse({ name: 'Third' }))
  await store.update(refOf(other), (current) => ({ ...current, version: 2, ...renamed }))
  expect([await matches('second'), indexed('sec')]).toEqual([0, 0])
  expect([await matches('third'), indexed('thi')]).toEqual([1, 1])

  await store.delete(refOf(other), () => {})
  expect([await matches('third'), indexed('thi')]).toEqual([0, 1])
  await store.undelete(refOf(other), () => {})
  expect([await matches('third'), indexed('thi')]).toEqual([1, 1])
  await store.delete(refOf(other), () => {})
  await store.purge(refOf(other), () => {})

  expect([await matches('third'), indexed('thi'), indexed('fir')]).toEqual([0, 0, 1])
})

it('has a column of each field of lists, an index for each order, and one that covers all', async () => {
  const path = newPath()
  await using _ = new SqliteFormsStore(path)
  using file = new DatabaseSync(path)
  const columnsOf = (index: string) =>
    file
      .prepare(`PRAGMA index_info(${index})`)
      .all()
      .map(({ name }) => name)
  const isText = (field: string) => ['string', 'enum'].includes(`${formFilterFields.fields[field]?.type}`)
  const fields = [...new Set([...Object.keys(formFilterFields.fields), ...formOrderFields])]

  const columns = file.prepare('PRAGMA table_info(forms)').all()
  for (const field of fields)
    expect(columns).toContainEqual(
      expect.objectContaining({ name: field, type: isText(field) ? 'TEXT' : 'INTEGER', notnull: 1 }),
    )
  // Pages are read without the overflow pages of drafts.
  expect(columns.at(-1)!.name).toBe('draft')
  for (const field of formOrderFields)
    expect(columnsOf(`forms_by_${field}`).slice(0, 2)).toEqual(['organizationId', field])
  expect(columnsOf('forms_by_updateTime').toSorted()).toEqual(
    [...fields, 'organizationId', 'foldedName'].toSorted(),
  )
})

it('has no foreign keys, so that other connections can change it', async () => {
  const path = newPath()
  await using store = new SqliteFormsStore(path)
  const form = await givenForm(store)
  await publish(store, form)
  await store.recordReplies({ ...form, replyIds: [randomUUID()] })

  using file = new DatabaseSync(path, { enableForeignKeyConstraints: true })
  file.exec('DELETE FROM forms; DELETE FROM revisions')

  for (const table of ['forms', 'revisions', 'replies', 'deletions', 'remains'])
    expect(file.prepare(`PRAGMA foreign_key_list(${table})`).all()).toEqual([])
})
