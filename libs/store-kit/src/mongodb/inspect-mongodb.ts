import type { StoreState } from '../inspect-store.ts'
import { MongoDatabase } from './mongodb-database.ts'
import { type MongoSchema, metaCollection, type SchemaDocument } from './mongodb-schema.ts'

/** @throws {ApiError} STORE_UNAVAILABLE, and what the driver says of the URL and of credentials. */
export const inspectMongodb = async (url: string, schema: MongoSchema): Promise<StoreState> => {
  await using database = new MongoDatabase(url)
  const { version: engineVersion, localTime } = await database.describeServer()
  const meta = database.collection<SchemaDocument>(metaCollection)
  const found = await meta.findOne({ _id: schema.store })
  const version = found?.version ?? 0
  // A write that finds nothing to change is refused where any other would be.
  const refusal = await meta.set({ _id: 'nothing' }, { version: 0 }).then(
    () => undefined,
    (error: Error) => ((error.cause as Error | undefined) ?? error).message,
  )
  return {
    engine: 'MongoDB',
    engineVersion,
    version,
    oldestVersion: found?.oldestVersion ?? version,
    neededVersion: schema.version,
    ...(refusal && { refusesWrites: refusal }),
    ...(localTime && { time: localTime }),
  }
}
