import { existsSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { StoreState } from '../store-state.ts'
import { assertRestored } from './restoring.ts'
import { readSqliteVersion } from './sqlite-schema.ts'

/** How long an inspection waits for the lock of another process, in milliseconds. */
const lockTimeoutMs = 2_000

/** @throws {Error} when it cannot be known: no access to a folder, or a file in the place of one. */
const isThere = (path: string): boolean => {
  try {
    statSync(path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

/** Changes nothing. @returns undefined without a file. @throws the driver's error when it cannot be read. */
export const inspectSqlite = (path: string, neededVersion: number): StoreState | undefined => {
  assertRestored(path)
  if (!isThere(path)) return undefined
  using database = new DatabaseSync(path, { timeout: lockTimeoutMs })
  const one = (sql: string) => Object.values(database.prepare(sql).get()!)[0]
  const state: StoreState = {
    engine: 'SQLite',
    engineVersion: String(one('SELECT sqlite_version()')),
    ...readSqliteVersion(database),
    neededVersion,
  }
  try {
    // On a file that is read-only, BEGIN IMMEDIATE alone does not fail.
    database.exec('BEGIN IMMEDIATE; CREATE TABLE write_probe (x); ROLLBACK')
    return state
  } catch (error) {
    return { ...state, refusesWrites: (error as Error).message }
  }
}

/** Whether the file exists and has the table. Creates nothing. */
export const sqliteStoreExists = (path: string, table: string): boolean => {
  if (!existsSync(path)) return false
  using database = new DatabaseSync(path, { readOnly: true })
  const sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?"
  return database.prepare(sql).get(table) !== undefined
}
