import type { MongoSchema } from './mongodb/mongodb-schema.ts'
import { inspectSqlite, sqliteStoreExists } from './sqlite/inspect-sqlite.ts'
import { SqliteDatabase } from './sqlite/sqlite-database.ts'
import type { SqliteMigration } from './sqlite/sqlite-schema.ts'
import type { MigrationStep, StoreState } from './store-state.ts'
import { byScheme, type Migration } from './store-url.ts'

interface StoreSchemas {
  store: string
  /** A table that only this store has. */
  table: string
  migrations: readonly SqliteMigration[]
  /** Loads the schema on MongoDB. The driver is loaded only where it is used. */
  mongodb: () => Promise<MongoSchema>
}

const driver = () => import('./mongodb/index.ts')

/** The functions that migrate and inspect a store. They take its URL, as `openFormsStore` and `openDirectoryStore` do. */
export const storeUpkeep = ({ store, table, migrations, mongodb }: StoreSchemas) => ({
  migrate: (url: string, onStep?: (step: MigrationStep) => void) =>
    byScheme<Promise<Migration>>(store, url, {
      sqlite: async (path) => {
        await new SqliteDatabase(path, migrations).close()
        return { engine: 'SQLite', version: migrations.length }
      },
      mongodb: async () => (await driver()).migrateMongodb(url, await mongodb(), { onStep }),
    }),

  exists: (url: string) =>
    byScheme<Promise<boolean>>(store, url, {
      sqlite: async (path) => sqliteStoreExists(path, table),
      mongodb: async () => (await driver()).mongodbStoreExists(url, store),
    }),

  inspect: (url: string) =>
    byScheme<Promise<StoreState | undefined>>(store, url, {
      sqlite: async (path) => inspectSqlite(path, migrations.length),
      mongodb: async () => (await driver()).inspectMongodb(url, await mongodb()),
    }),
})
