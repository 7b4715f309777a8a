import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startMongo } from '@fms/testkit/mongodb'
import { migrateBeyondThisRelease } from '@fms/testkit/newer-schema'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { givenForm, newForm, refOf } from './contract/given.ts'
import { inspectFormsStore, migrateFormsStore, openFormsStore } from './open-forms-store.ts'

const directory = mkdtempSync(join(tmpdir(), 'forms-store-newer-'))
const mongo = await startMongo()
afterAll(async () => {
  rmSync(directory, { recursive: true })
  await mongo[Symbol.asyncDispose]()
})

const tooNew = { status: 'UNAVAILABLE', reason: 'STORE_SCHEMA_TOO_NEW' }

describe.each([
  ['SQLite', `sqlite:${join(directory, 'forms.db')}`],
  ['MongoDB', mongo.url],
])('a forms store on %s that a newer release has migrated', (_, url) => {
  it('rejects open stores, new stores and migrations, and keeps its schema version', async () => {
    await migrateFormsStore(url)
    await using running = await openFormsStore(url)
    const { organizationId } = await givenForm(running)
    const all = { organizationId, orderBy: [], limit: 10, skip: 0 }
    expect((await running.list(all)).totalSize).toBe(1)

    await migrateBeyondThisRelease(url, 'forms')

    await expect(running.list(all)).rejects.toMatchObject(tooNew)
    await expect(running.create(newForm({ organizationId }))).rejects.toMatchObject(tooNew)
    await expect(running.ping()).rejects.toMatchObject(tooNew)
    await expect(openFormsStore(url)).rejects.toMatchObject(tooNew)
    await expect(migrateFormsStore(url)).rejects.toMatchObject(tooNew)
    expect(await inspectFormsStore(url)).toMatchObject({ version: 999, oldestVersion: 999 })
  })
})

describe('a forms store on SQLite', () => {
  it('rejects reads within about a second, also those that the new schema could serve', async () => {
    const url = `sqlite:${join(directory, 'reader.db')}`
    await using running = await openFormsStore(url)
    const form = await givenForm(running)
    const { organizationId } = form
    const filter = { kind: 'search', field: 'name', text: 'o' } as const
    const search = { organizationId, filter, orderBy: [], limit: 10, skip: 0 }
    await running.list(search)

    await migrateBeyondThisRelease(url, 'forms')

    await vi.waitFor(() => expect(running.list(search)).rejects.toMatchObject(tooNew), 10_000)
    await expect(running.get(refOf(form))).rejects.toMatchObject(tooNew)
  })
})
