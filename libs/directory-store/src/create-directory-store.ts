import type { DirectoryStore } from './directory-store.ts'
import { keyOperations } from './operations/keys.ts'
import { loginCodeOperations } from './operations/login-codes.ts'
import { memberOperations } from './operations/members.ts'
import { organizationOperations } from './operations/organizations.ts'
import { ownKeyOperations } from './operations/own-keys.ts'
import { recordOperations } from './operations/records.ts'
import { userOperations } from './operations/users.ts'
import type { DirectoryTables } from './tables/directory-tables.ts'

/** The directory store on the tables of an engine. Disposing closes them. */
export const createDirectoryStore = (tables: DirectoryTables, now: () => Date): DirectoryStore => ({
  ...userOperations(tables, now),
  ...organizationOperations(tables, now),
  ...memberOperations(tables, now),
  ...keyOperations(tables, now),
  ...ownKeyOperations(tables, now),
  ...loginCodeOperations(tables, now),
  ...recordOperations(tables),
  ping: () => tables.ping(),
  close: () => tables.close(),
  [Symbol.asyncDispose]: () => tables.close(),
})
