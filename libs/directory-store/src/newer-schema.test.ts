import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startMongo } from '@fms/testkit/mongodb'
import { migrateBeyondThisRelease } from '@fms/testkit/newer-schema'
import { afterAll, describe, expect, it } from 'vitest'
import { inspectDirectoryStore, migrateDirectoryStore, openDirectoryStore } from './open-directory-store.ts'

const directory = mkdtempSync(join(tmpdir(), 'directory-store-newer-'))
const mongo = await startMongo()
afterAll(async () => {
  rmSync(directory, { recursive: true })
  await mongo[Symbol.asyncDispose]()
})

const tooNew = { status: 'UNAVAILABLE', reason: 'STORE_SCHEMA_TOO_NEW' }

describe.each([
  ['SQLite', `sqlite:${join(directory, 'directory.db')}`],
  ['MongoDB', mongo.url],
])('a directory on %s that a newer release has migrated', (_, url) => {
  it('rejects open stores, new stores and migrations, and keeps its schema version', async () => {
    await migrateDirectoryStore(url)
    await using running = await openDirectoryStore(url)
    await running.createUser({ email: 'ada@example.com' })

    await migrateBeyondThisRelease(url, 'directory')

    await expect(running.createUser({ email: 'grace@example.com' })).rejects.toMatchObject(tooNew)
    await expect(running.ping()).rejects.toMatchObject(tooNew)
    await expect(openDirectoryStore(url)).rejects.toMatchObject(tooNew)
    await expect(migrateDirectoryStore(url)).rejects.toMatchObject(tooNew)
    expect(await inspectDirectoryStore(url)).toMatchObject({ version: 999, oldestVersion: 999 })
  })
})
