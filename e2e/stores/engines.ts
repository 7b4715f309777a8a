import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startMongo } from '@fms/testkit/mongodb'
import { dumpMongodb, restoreMongodb } from './mongodb-dump.ts'
import { dumpSqlite, restoreSqlite } from './sqlite-dump.ts'

/** How the stores of an engine are written as lines of text. */
export interface StoreEngine {
  name: string
  /** The URL of a new store, which does not exist yet. Disposing deletes the store. */
  create(store: 'forms' | 'directory'): Promise<{ url: string } & AsyncDisposable>
  dump(url: string): Promise<string[]>
  restore(url: string, dump: readonly string[]): Promise<void>
}

const pathOf = (url: string) => url.slice('sqlite:'.length)

const sqlite: StoreEngine = {
  name: 'SQLite',
  create: async (store) => {
    const folder = await mkdtempDisposable(join(tmpdir(), 'stores-'))
    return {
      url: `sqlite:${join(folder.path, `${store}.db`)}`,
      [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
    }
  },
  dump: async (url) => dumpSqlite(pathOf(url)),
  restore: async (url, dump) => restoreSqlite(pathOf(url), dump),
}

const mongodb: StoreEngine = {
  name: 'MongoDB',
  create: () => startMongo(),
  dump: dumpMongodb,
  restore: restoreMongodb,
}

export const engines: readonly StoreEngine[] = [sqlite, mongodb]
