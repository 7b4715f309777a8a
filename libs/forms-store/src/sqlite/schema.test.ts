import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { FormRecord } from '@fms/contracts'
import { SqliteDatabase } from '@fms/store-kit'
import { spawnWithParent, terminate } from '@fms/testkit/processes'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { edited, exported, newForm, newRevision, publish, refOf } from '../contract/given.ts'
import type { StoredForm, StoredRevision } from '../forms-store.ts'
import { toFormRecord } from '../stored-form-record.ts'
import { SqliteFormsStore } from './forms-store.ts'
import { newFormColumns, revisionColumns } from './rows.ts'
import { functions, migrations } from './schema.ts'

const directory = mkdtempSync(join(tmpdir(), 'schema-'))
afterAll(() => rmSync(directory, { recursive: true }))

let files = 0
const newPath = () => join(directory, `forms-${files++}.db`)

/** Before form ids became unique in their organization only. */
const lastOfFormIds = 8
/** Release 0.1.0. */
const lastRelease = 5

/** Opens a file as the release with this schema does. */
const openAs = (path: string, version: number) =>
  new SqliteDatabase(path, migrations.slice(0, version), { foreignKeys: false, functions })

/** The columns of a revision in a schema. */
const revisionColumnsOf = (revision: StoredRevision, version: number) => {
  const { publisher, note, ...columns } = revisionColumns(revision)
  return version > lastRelease ? { ...columns, publisher: publisher!, note: note! } : columns
}

interface OldFile {
  path: string
  organizations: string[]
  /** The forms by organization, as an export has them. */
  records: FormRecord[][]
  forms: StoredForm[]
  deleted: StoredForm
}

/** A file of an earlier schema: two organizations with forms, revisions and replies, and the remains of a deleted form. */
const givenFile = async (version: number): Promise<OldFile> => {
  const path = newPath()
  const organizations = [randomUUID(), randomUUID()]
  const forms = organizations.flatMap((organizationId) =>
    Array.from({ length: 60 }, (_, index) =>
      newForm({
        organizationId,
        replyCount: index % 3,
        live: index % 2 === 0,
        draft: { name: `Größe ${index} 😀`, context: ['x'.repeat(20 * 1024)] },
      }),
    ),
  )
  const signed = version > lastRelease ? {} : { publisher: '', note: '' }
  await using database = openAs(path, version)
  const insertForm = (form: StoredForm): FormRecord => {
    const revisions = form.live ? [1, 2].map((number) => newRevision(form, { number, ...signed })) : []
    const replyIds = Array.from({ length: form.replyCount }, () => randomUUID())
    const live = revisions.at(-1)
    const state = {
      revisionNumber: live?.number ?? 0,
      liveNumber: live?.number ?? 0,
      liveRevisionId: live?.revisionId ?? null,
    }
    database.insert('forms', { ...newFormColumns(form), ...state })
    for (const revision of revisions) database.insert('revisions', revisionColumnsOf(revision, version))
    for (const replyId of replyIds) database.insert('replies', { formId: form.formId, replyId })
    return toFormRecord(form, { ...state, revisions, replyIds })
  }
  const deleted = newForm({ organizationId: organizations[0]!, replyCount: 2, live: true })
  const records = await database.write(() => {
    const inserted = forms.map(insertForm)
    insertForm(deleted)
    database.run('DELETE FROM forms WHERE formId = ?', deleted.formId)
    const { organizationId, formId } = deleted
    database.insert('deletions', { formId, organizationId, deleteTime: 0 })
    // A gap in the rowids.
    database.run('DELETE FROM forms WHERE formId = ?', inserted[0]!.formId)
    database.insert('deletions', { formId: inserted[0]!.formId, organizationId, deleteTime: 0 })
    return inserted.slice(1)
  })
  const byPublicId = (one: FormRecord, other: FormRecord) => (one.publicId < other.publicId ? -1 : 1)
  return {
    path,
    organizations,
    records: organizations.map((id) =>
      records.filter(({ organizationId }) => organizationId === id).sort(byPublicId),
    ),
    forms: forms.slice(1),
    deleted,
  }
}

const rowids = (path: string) => {
  using file = new DatabaseSync(path)
  return file.prepare('SELECT rowid, formId FROM forms ORDER BY rowid').all()
}

/** The indexes and triggers of `forms`, by name. */
const attachments = (path: string) => {
  using file = new DatabaseSync(path)
  const sql =
    "SELECT name, sql FROM sqlite_schema WHERE tbl_name = 'forms' AND sql IS NOT NULL AND type <> 'table'"
  const rows = file.prepare(`${sql} ORDER BY name`).all() as { name: string; sql: string }[]
  return rows.map(({ name, sql }) => [name, sql.replaceAll(/\s+/g, ' ')])
}

const expectMigrated = async ({ path, organizations, records, forms, deleted }: OldFile) => {
  await using store = new SqliteFormsStore(path, { fewForms: 0 })
  for (const [index, organizationId] of organizations.entries()) {
    expect(await exported(store, organizationId)).toEqual(records[index])
    const filter = { kind: 'search', field: 'name', text: 'größe 5' } as const
    const found = await store.list({ organizationId, filter, orderBy: [], limit: 100, skip: 0 })
    expect(found.totalSize).toBe(11)
  }
  await vi.waitFor(async () => {
    const drafts = records[0]!.map(({ formId }) => forms.find((form) => form.formId === formId)!)
    const texts = records[0]!.flatMap(({ revisions }) => revisions.map(({ form }) => JSON.stringify(form)))
    const bytes = [...drafts.map(({ draftJson }) => draftJson), ...texts].reduce(
      (sum, text) => sum + Buffer.byteLength(text),
      0,
    )
    expect(await store.usage(organizations[0]!)).toEqual({ forms: 59, bytes })
  }, 10_000)
  // Changes run the triggers: a rename is found, and a delete is not.
  const form = forms[5]!
  const { organizationId } = form
  const search = (text: string) => ({ kind: 'search', field: 'name', text }) as const
  const matches = async (text: string) =>
    (await store.list({ organizationId, filter: search(text), orderBy: [], limit: 1, skip: 0 })).totalSize
  await store.update(refOf(form), (current) => edited(current, { name: 'Renamed' }))
  expect(await matches('renamed')).toBe(1)
  await publish(store, form)
  await store.delete(refOf(form), () => {})
  expect(await matches('renamed')).toBe(0)
  const again = newForm({ organizationId: deleted.organizationId, formId: deleted.formId })
  expect(await store.create(again)).toEqual(again)
  expect(await store.getRevision(refOf(again), 'latest')).toBeUndefined()
}

describe.each([lastOfFormIds, lastRelease])('a forms file of schema %i', (version) => {
  it('keeps all forms, revisions and replies, and is cleared of what deleted forms have left', async () => {
    const file = await givenFile(version)

    await expectMigrated(file)

    using database = new DatabaseSync(file.path)
    expect(database.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
  })

  it('is not changed by a process that is killed during the migration, and the next one completes it', async () => {
    const file = await givenFile(version)
    const before = { rowids: rowids(file.path), attachments: attachments(file.path) }
    for (const after of [lastOfFormIds + 1, migrations.length]) {
      const program = join(import.meta.dirname, 'testing/kill-in-migration.ts')
      const child = spawnWithParent({ name: 'migrate', args: [program, file.path, `${after}`] }, 'pipe')
      await using _ = { [Symbol.asyncDispose]: () => terminate(child) }
      expect(await once(child, 'exit')).toEqual([null, 'SIGKILL'])
    }

    expect({ rowids: rowids(file.path), attachments: attachments(file.path) }).toEqual(before)
    {
      await using old = openAs(file.path, version)
      old.ping()
    }
    await expectMigrated(file)
  })

  it('is closed to processes of that release after the migration', async () => {
    const { path, forms } = await givenFile(version)
    await using old = openAs(path, version)
    await using store = new SqliteFormsStore(path)
    const tooNew = { reason: 'STORE_SCHEMA_TOO_NEW', status: 'UNAVAILABLE' }

    await expect(old.write(() => old.run("UPDATE forms SET draft = '{}'"))).rejects.toMatchObject(tooNew)
    expect(() => old.ping()).toThrow(expect.objectContaining(tooNew))

    expect(await store.get(refOf(forms[3]!))).toEqual(forms[3])
  })
})

it('keeps the rowids, indexes and triggers of forms when their key changes', async () => {
  const { path } = await givenFile(lastOfFormIds)
  const before = { rowids: rowids(path), attachments: attachments(path) }

  await openAs(path, migrations.length).close()

  expect({ rowids: rowids(path), attachments: attachments(path) }).toEqual(before)
})

it('has no foreign keys, so that other connections can change it', async () => {
  const { path, forms } = await givenFile(lastOfFormIds)
  await openAs(path, migrations.length).close()

  using file = new DatabaseSync(path, { enableForeignKeyConstraints: true })
  file.prepare('DELETE FROM forms WHERE formId = ?').run(forms[1]!.formId)
  file.exec('DELETE FROM revisions')

  for (const table of ['forms', 'revisions', 'replies']) {
    expect(file.prepare(`PRAGMA foreign_key_list(${table})`).all()).toEqual([])
  }
})
