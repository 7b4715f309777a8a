import { byScheme, inspectSqlite, type StoreState, sqlitePath } from '@fms/store-kit'
import { migrations } from './sqlite/schema.ts'

/** Looks at the store that a URL names, and changes nothing. @returns undefined where a SQLite file is yet to be made. */
export const inspectFormsStore = (url: string): Promise<StoreState | undefined> =>
  byScheme<Promise<StoreState | undefined>>('forms', url, {
    sqlite: async () => inspectSqlite(sqlitePath(url), migrations.length),
    mongodb: async () => {
      const { inspectMongodb } = await import('@fms/store-kit/mongodb')
      const { formsSchema } = await import('./mongodb/schema.ts')
      return inspectMongodb(url, formsSchema)
    },
  })
