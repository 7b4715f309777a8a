import { sqlitePath } from '@fms/store-kit'
import type { FormsStore } from './forms-store.ts'
import { SqliteFormsStore } from './sqlite/forms-store.ts'

/** Opens the engine that the URL names: `sqlite:PATH`, a file on this machine. */
export const openFormsStore = async (url: string): Promise<FormsStore> =>
  new SqliteFormsStore(sqlitePath(url))
