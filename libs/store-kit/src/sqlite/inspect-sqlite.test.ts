import { existsSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sqliteStoreExists } from './inspect-sqlite.ts'
import { SqliteDatabase } from './sqlite-database.ts'
import { createNotesPath, migrations } from './testing.ts'

let path: string

beforeEach(() => {
  path = createNotesPath()
})

afterEach(() => rmSync(dirname(dirname(path)), { recursive: true }))

describe('sqliteStoreExists', () => {
  it('is true when the file has the table, and creates neither', async () => {
    expect(sqliteStoreExists(path, 'notes')).toBe(false)
    expect(existsSync(path)).toBe(false)
    await new SqliteDatabase(path, migrations).close()

    expect(sqliteStoreExists(path, 'notes')).toBe(true)
    expect(sqliteStoreExists(path, 'others')).toBe(false)
  })
})
