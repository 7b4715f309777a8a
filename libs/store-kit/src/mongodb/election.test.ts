import { startMongo } from '@fms/testkit/mongodb'
import { MongoClient, MongoServerError } from 'mongodb'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { writeConflict } from '../retry-on-conflict.ts'
import { MongoDatabase } from './mongodb-database.ts'

const mongo = await startMongo()
afterAll(() => mongo[Symbol.asyncDispose]())

/** An election disturbs other suites on the same server: `npm run test:mongodb` runs this one after them. */
const ownsServer = !process.env.TEST_MONGODB_URL || process.env.TEST_MONGODB_ELECTIONS

const patience = { timeout: 60_000, interval: 100 }

/** @returns why the server does not step down: the user lacks the right, or it is mongos, which has no such command. */
const stepDown = async (client: MongoClient): Promise<string | undefined> => {
  const request = { replSetStepDown: 1, secondaryCatchUpPeriodSecs: 0, force: true }
  try {
    await client.db('admin').command(request)
  } catch (error) {
    if (error instanceof MongoServerError && [13, 59].includes(Number(error.code))) return error.message
    // The connection may break during the election.
  }
  return undefined
}

describe.runIf(ownsServer)('an election between the writes and the commit of a transaction', () => {
  it('leaves the change whole or not at all, and its documents unlocked', async ({ skip }) => {
    await using database = new MongoDatabase(mongo.url)
    await using client = new MongoClient(mongo.url)
    const notes = database.collection<{ _id: string; count: number }>('notes')
    await notes.insert({ _id: 'a', count: 0 })
    const add = { collection: 'notes', update: { _id: 'a' }, by: { $inc: { count: 1 } } }
    let runs = 0
    let refusal: string | undefined

    const outcome = await database
      .transaction(async (transaction) => {
        await transaction.write([add])
        // mongod aborts the transaction now, and the work runs again; secantusdb commits it.
        if (++runs === 1) refusal = await stepDown(client)
        return 'changed'
      })
      .catch((error) => {
        expect(error).toMatchObject({ reason: 'STORE_UNAVAILABLE' })
        return 'unknown'
      })
    if (refusal) skip(refusal)

    const count = await vi.waitFor(async () => (await notes.findOne({ _id: 'a' }))!.count, patience)
    expect(count).toBeOneOf(outcome === 'changed' ? [1] : outcome === writeConflict ? [0] : [0, 1])
    await vi.waitFor(async () => {
      const counts = await database.transaction((transaction) => transaction.write([add]))
      expect(counts).toEqual({ matched: 1, deleted: 0 })
    }, patience)
  })
})
