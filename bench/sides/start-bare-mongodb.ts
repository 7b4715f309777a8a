import type { TestMongodb } from '@fms/testkit/mongodb'
import { terminate } from '@fms/testkit/processes'
import { MongoClient } from 'mongodb'
import { bareForm, barePublicIdOf, createBareIndexes } from '../data/bare-mongodb.ts'
import { draftOf, formIdOf } from '../data/generated-forms.ts'
import { bareMongodbOperations } from '../load/requests.ts'
import { type Side, startProgram } from './processes.ts'

/** Documents of one insert. */
const batchSize = 500

/** Starts M, a bare server with the MongoDB driver, with `forms` forms in a database on the product's engine. */
export const startBareMongodb = async (engine: TestMongodb, forms: number): Promise<Side> => {
  const url = databaseUrl(engine.url, 'bare')
  const [organizationId, otherOrganizationId] = [formIdOf(-1), formIdOf(-2)]
  await seed(url, organizationId, forms)
  const { child, message } = await startProgram<{ origin: string }>('bare-mongodb-server.ts', url)
  const target = {
    baseUrl: `${message.origin}/v2`,
    organizationId,
    otherOrganizationId,
    forms,
    apiKeys: ['none'],
    filter: 'plain',
  } as const
  return {
    name: 'M',
    operations: bareMongodbOperations,
    pids: () => ({ bare: [child.pid!], ...(engine.pid && { mongodb: [engine.pid] }) }),
    load: (operation, connections) => ({ kind: 'http', operation, target, connections }),
    [Symbol.asyncDispose]: async () => {
      await terminate(child)
      await dropDatabase(engine, url)
    },
  }
}

const seed = async (url: string, organizationId: string, forms: number): Promise<void> => {
  await using client = new MongoClient(url)
  const database = client.db()
  await createBareIndexes(database)
  const startTime = Date.now() - forms * 1000
  for (let from = 0; from < forms; from += batchSize) {
    const numbers = Array.from({ length: Math.min(batchSize, forms - from) }, (_, index) => from + index)
    const documents = numbers.map((number) =>
      bareForm(
        { organizationId, formId: formIdOf(number), publicId: barePublicIdOf(number) },
        draftOf(number),
        startTime + number * 1000,
      ),
    )
    await database.collection<{ _id: string }>('forms').insertMany(documents)
  }
}

/** URL of another database on the server of `url`. */
export const databaseUrl = (url: string, name: string): string => {
  const database = new URL(url)
  database.pathname = `${database.pathname}-${name}`
  return database.href
}

/** Drops a database of a server that was there before. An engine that was started ends with all of its data. */
export const dropDatabase = async ({ pid }: TestMongodb, url: string): Promise<void> => {
  if (pid !== undefined) return
  await using client = new MongoClient(url)
  await client.db().dropDatabase()
}
