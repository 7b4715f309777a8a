import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SqliteDatabase } from './sqlite-database.ts'

/** The schema of the databases in these tests. */
export const migrations = ['CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT']

export const unavailable = { status: 'UNAVAILABLE', reason: 'STORE_UNAVAILABLE' }

/** A path in a missing folder of a new temporary folder. */
export const createNotesPath = (): string =>
  join(mkdtempSync(join(tmpdir(), 'store-kit-')), 'made', 'notes.db')

export const add = (database: SqliteDatabase, text: string): Promise<number> =>
  database.write(() => database.run('INSERT INTO notes (text) VALUES (?)', text))

export const texts = (database: SqliteDatabase) =>
  database.all('SELECT text FROM notes ORDER BY id').map((row) => row.text)
