import { byScheme, inspectSqlite, type StoreState, sqlitePath } from '@fms/store-kit'
import { migrations } from './sqlite/schema.ts'

/**
 * Reads the schema version of a directory store without changing it.
 *
 * @param url as for {@link openDirectoryStore}.
 * @returns undefined for a SQLite file that does not exist.
 */
export const inspectDirectoryStore = (url: string): Promise<StoreState | undefined> =>
  byScheme<Promise<StoreState | undefined>>('directory', url, {
    sqlite: async () => inspectSqlite(sqlitePath(url), migrations.length),
    mongodb: async () => {
      const { inspectMongodb } = await import('@fms/store-kit/mongodb')
      const { directorySchema } = await import('./mongodb/schema.ts')
      return inspectMongodb(url, directorySchema)
    },
  })
