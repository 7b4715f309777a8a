import type { StoreState } from '../store-state.ts'
import { MongoDatabase } from './mongodb-database.ts'
import { type MongoSchema, metaCollection, type SchemaDocument } from './mongodb-schema.ts'

/**
 * Changes nothing.
 *
 * @throws {ApiError} STORE_NOT_SUPPORTED; STORE_UNAVAILABLE, also where the server rejects the user; `cause` is the
 *   driver's error.
 * @throws {Error} for an invalid URL.
 */
export const inspectMongodb = async (url: string, schema: MongoSchema): Promise<StoreState> => {
  await using database = new MongoDatabase(url)
  const { version: engineVersion, localTime } = await database.readDeployment()
  const { value, isForbidden } = await database.readParameter('transactionLifetimeLimitSeconds')
  const meta = database.collection<SchemaDocument>(metaCollection)
  const found = await meta.findOne({ _id: schema.store })
  const version = found?.version ?? 0
  // An update that matches no document fails where any other write fails.
  const writeError = await meta.set({ _id: 'nothing' }, { version: 0 }).then(
    () => undefined,
    (error: Error) => ((error.cause as Error | undefined) ?? error).message,
  )
  return {
    engine: 'MongoDB',
    engineVersion,
    version,
    oldestVersion: found?.oldestVersion ?? version,
    neededVersion: schema.version,
    transactionLifetime: isForbidden ? 'forbidden' : value === undefined ? 'not reported' : Number(value),
    ...(writeError && { refusesWrites: writeError }),
    ...(localTime && { time: localTime }),
  }
}

/** Whether any release has ever migrated the store. */
export const mongodbStoreExists = async (url: string, store: string): Promise<boolean> => {
  await using database = new MongoDatabase(url)
  return database.collection<SchemaDocument>(metaCollection).has({ _id: store })
}
