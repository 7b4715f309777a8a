import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { SchemaNote } from './schema-note.ts'
import { readSqliteNote } from './sqlite/sqlite-schema.ts'

/** What a look at a store finds, without changing it. */
export interface StoreState extends SchemaNote {
  engine: 'SQLite' | 'MongoDB'
  /** Of the engine, such as `8.0.17`. */
  engineVersion: string
  /** Of the schema that this release needs. */
  neededVersion: number
  /** Why the store takes no writes; absent while it does. */
  refusesWrites?: string
  /** The engine's clock, where it is not this machine's. */
  time?: Date
}

/** How long another process's lock is waited for, in milliseconds. */
const patienceMs = 2_000

/** @returns undefined where there is no file: whoever opens the store makes it. @throws what SQLite says of the file. */
export const inspectSqlite = (path: string, neededVersion: number): StoreState | undefined => {
  if (!existsSync(path)) return undefined
  using database = new DatabaseSync(path, { timeout: patienceMs })
  const one = (sql: string) => Object.values(database.prepare(sql).get()!)[0]
  const state: StoreState = {
    engine: 'SQLite',
    engineVersion: String(one('SELECT sqlite_version()')),
    ...readSqliteNote(database),
    neededVersion,
  }
  try {
    database.exec('BEGIN IMMEDIATE; ROLLBACK')
    return state
  } catch (error) {
    return { ...state, refusesWrites: (error as Error).message }
  }
}
