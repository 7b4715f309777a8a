import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { SqliteDatabase } from '@fms/store-kit'
import { startMongo } from '@fms/testkit/mongodb'
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { logOf } from './contract/events/log-of.ts'
import { exported, givenForm, givenRevisions, newForm, refOf } from './contract/given.ts'
import type { FormsStore, FormsStoreOptions, StoredForm } from './forms-store.ts'
import { migrateFormsStore, openFormsStore } from './open-forms-store.ts'
import { toFormRecord } from './stored-form-record.ts'

const directory = mkdtempSync(join(tmpdir(), 'forms-store-clearing-'))
const mongo = await startMongo()
afterAll(async () => {
  rmSync(directory, { recursive: true })
  await mongo[Symbol.asyncDispose]()
})

const beforeNow = (ms: number) => new Date(Date.now() - ms).toISOString()
const newName = () => `test_${randomUUID().slice(0, 8)}`

describe.each([
  ['SQLite', () => `sqlite:${join(directory, newName())}.db`],
  ['MongoDB', () => mongo.url.replace(/\/[^/?]*(\?|$)/, `/${newName()}$1`)],
])('a deleted form on %s whose purgeTime has passed', (_, newUrl) => {
  const record = {
    ...toFormRecord(newForm(), {
      revisionNumber: 0,
      liveNumber: 0,
      liveRevisionId: null,
      revisions: [],
      replyIds: [],
    }),
    deletion: { deleteTime: beforeNow(2), purgeTime: beforeNow(1), deleter: '' },
  }
  const { organizationId } = record
  const ref = refOf(record as unknown as StoredForm)

  /** A new store that has only this form. */
  const givenStore = async (): Promise<string> => {
    const url = newUrl()
    await migrateFormsStore(url)
    await using store = await openFormsStore(url, { clears: false })
    await store.importForm(record)
    return url
  }

  const untilPurged = (store: FormsStore) =>
    vi.waitFor(async () => expect(await store.getDeleted(ref)).toBeUndefined(), { timeout: 30_000 })

  it.each<[FormsStoreOptions]>([[{ readOnly: true }], [{ clears: false }]])(
    'stays in a store that is opened with %j',
    async (options) => {
      const [url, other] = [await givenStore(), await givenStore()]

      await using store = await openFormsStore(url, options)
      // A store that clears, opened later, takes about as long as this one would.
      await using clearing = await openFormsStore(other)
      await untilPurged(clearing)

      expect(await exported(store, organizationId)).toEqual([record])
      expect((await logOf(store, organizationId)).map(({ type }) => type)).toEqual(['form.imported'])
    },
  )

  it('cannot be restored before it is purged', async () => {
    await using store = await openFormsStore(await givenStore(), { clears: false })

    expect(await store.undelete(ref, () => {})).toBeUndefined()

    expect(await exported(store, organizationId)).toEqual([record])
  })

  it('stays after a migration, and is purged by the next process that opens the store', async () => {
    const url = await givenStore()

    await migrateFormsStore(url)
    {
      await using store = await openFormsStore(url, { readOnly: true })
      expect(await exported(store, organizationId)).toEqual([record])
    }

    await using store = await openFormsStore(url)
    await untilPurged(store)
  })
})

it('purges no form that was restored and deleted again after it was found to be due', async () => {
  const url = `sqlite:${join(directory, newName())}.db`
  await using store = await openFormsStore(url, { clears: false, deletedFormsDays: 1 })
  const form = await givenForm(store)
  await store.delete(refOf(form), () => {})
  // The first statement finds the forms that are due.
  const all = vi.spyOn(SqliteDatabase.prototype, 'all').mockReturnValueOnce([{ ...refOf(form) }])
  onTestFinished(() => all.mockRestore())

  await using clearing = await openFormsStore(url)
  await vi.waitFor(() => expect(all).toHaveBeenCalledTimes(2))

  expect(await clearing.getDeleted(refOf(form))).toEqual(form)
})

it('clears what forms have left that are gone, also if the purge of another form fails', async () => {
  const path = join(directory, `${newName()}.db`)
  await using store = await openFormsStore(`sqlite:${path}`, { clears: false, deletedFormsDays: 1e-6 })
  const { form } = await givenRevisions(store, [1])
  await store.delete(refOf(form), () => {})
  await store.purge(refOf(form), () => {})
  const due = await givenForm(store)
  await store.delete(refOf(due), () => {})
  using file = new DatabaseSync(path)
  file.exec("CREATE TRIGGER failing BEFORE DELETE ON forms BEGIN SELECT RAISE(ABORT, 'Failed'); END")
  await delay(100)

  await using clearing = await openFormsStore(`sqlite:${path}`)

  const { revisionGrowth } = clearing
  await vi.waitFor(async () => expect(await revisionGrowth.total()).toEqual({ revisions: 0, bytes: 0 }))
  expect(await clearing.getDeleted(refOf(due))).toEqual(due)
})
