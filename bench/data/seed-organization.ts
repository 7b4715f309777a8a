import { migrateFormsStore, openFormsStore } from '@fms/forms-store'
import type { TestMongodb } from '@fms/testkit/mongodb'
import type { StoredOrganization } from '../load/store-operations.ts'
import { databaseUrl, dropDatabase } from '../sides/start-bare-mongodb.ts'
import { fillMongodb } from './fill-mongodb.ts'
import { formIdOf, formTimeOf } from './generated-forms.ts'

/**
 * Creates a forms store in a new database, with one organization. Disposing drops the database.
 *
 * @param name of the database, unique on the engine in this process.
 * @param onProgress called with the number of forms that were added so far.
 */
export const seedOrganization = async (
  engine: TestMongodb,
  name: string,
  forms: number,
  onProgress: (added: number) => void,
): Promise<StoredOrganization> => {
  const url = databaseUrl(engine.url, name)
  await migrateFormsStore(url)
  const organizationId = formIdOf(-1)
  await fillMongodb(url, { organizationId, count: forms, timeOf: formTimeOf, onProgress })
  const store = await openFormsStore(url)
  return {
    url,
    store,
    organizationId,
    forms,
    [Symbol.asyncDispose]: async () => {
      await store.close()
      await dropDatabase(engine, url)
    },
  }
}
