import { randomUUID } from 'node:crypto'
import { startMongo } from '@fms/testkit/mongodb'
import type { Collection, Document } from 'mongodb'
import { afterAll, describe, expect, it } from 'vitest'
import { MongoCollection } from './mongodb-collection.ts'
import { MongoDatabase } from './mongodb-database.ts'

interface Note {
  _id: string
  text?: string
  version?: number
}

const mongo = await startMongo()
const database = new MongoDatabase(mongo.url)
afterAll(async () => {
  await database.close()
  await mongo[Symbol.asyncDispose]()
})

const given = async (note: Omit<Note, '_id'> = {}) => {
  const notes = database.collection<Note>('notes')
  const _id = randomUUID()
  await notes.insert({ _id, ...note })
  return { notes, _id }
}

describe('find', () => {
  it('reads all batches in order, and may end early', async () => {
    const { notes } = await given()
    const text = randomUUID()
    const ids = Array.from({ length: 250 }, (_, index) => `${text}-${1_000 + index}`)
    for (const _id of ids) await notes.insert({ _id, text })

    const found = await Array.fromAsync(notes.find({ text }, { sort: { _id: 1 } }), ({ _id }) => _id)
    expect(found).toEqual(ids)
    for await (const { _id } of notes.find({ text }, { sort: { _id: -1 } })) {
      expect(_id).toBe(ids.at(-1))
      break
    }
  })
})

describe('updateInOrder', () => {
  it('ends at the first update that a unique index rejects', async () => {
    await database.createIndex({
      collection: 'notes',
      name: 'version',
      key: { version: 1 },
      unique: true,
      sparse: true,
    })
    const versions = [1, 2, 3].map((each) => each + Math.floor(Math.random() * 1e9))
    const [first, second, third] = [await given(), await given(), await given({ version: versions[1]! })]
    const updates = [first, second, third].map(
      ({ _id }, index) =>
        [{ _id, text: null }, { $set: { version: versions[index]!, text: 'new' } }] as const,
    )

    await first.notes.updateInOrder(updates)

    expect(await first.notes.findOne({ _id: first._id })).toMatchObject({ version: versions[0] })
    expect(await first.notes.findOne({ _id: second._id })).not.toHaveProperty('version')
    expect(await first.notes.findOne({ _id: third._id })).toMatchObject({ version: versions[1] })
  })
})

/** A call of each operation, and the options with which the driver is called. */
const operations: Record<string, (notes: MongoCollection<Note>) => Promise<unknown>> = {
  findOne: (notes) => notes.findOne({}),
  has: (notes) => notes.has({}),
  find: (notes) => Array.fromAsync(notes.find({})),
  findDurable: (notes) => notes.findDurable({}),
  findFields: (notes) => Array.fromAsync(notes.findFields({}, { fields: ['version'] })),
  count: (notes) => notes.count({}),
  insert: (notes) => notes.insert({ _id: 'a' }),
  set: (notes) => notes.set({}, { version: 1 }),
  deleteOne: (notes) => notes.deleteOne({}),
  deleteMany: (notes) => notes.deleteMany({}),
  aggregateSnapshot: (notes) => notes.aggregateSnapshot([]),
  distinct: (notes) => notes.distinct('text', {}),
  update: (notes) => notes.update({}, {}),
  updateAndGet: (notes) => notes.updateAndGet({}, {}),
  updateInOrder: (notes) => notes.updateInOrder([[{}, {}]]),
}

/** Results of the driver's methods, all in one. */
const result = { matchedCount: 1, deletedCount: 1 }

/** A collection of the driver that records the last argument of each call. */
const recordingCollection = (calls: Document[]) => {
  const cursor = { next: async () => null, toArray: async () => [], close: async () => {} }
  const returns: Record<string, unknown> = { find: cursor, aggregate: cursor }
  return new Proxy(
    {},
    {
      get: (_, method: string) =>
        method === 'collectionName'
          ? 'notes'
          : (...args: Document[]) => {
              calls.push(args.at(-1)!)
              return returns[method] ?? Promise.resolve(result)
            },
    },
  ) as Collection<Document>
}

describe('every operation', () => {
  it('is in this test', () => {
    const methods = Object.getOwnPropertyNames(MongoCollection.prototype)
    expect(Object.keys(operations).sort()).toEqual(methods.filter((name) => name !== 'constructor').sort())
  })

  it.each(Object.entries(operations))(
    '%s limits the work of the engine, and waits a little longer for the response',
    async (_, call) => {
      const calls: Document[] = []
      const limits: number[] = []
      const notes = new MongoCollection<Note>(recordingCollection(calls), (request, timeoutMs) => {
        limits.push(timeoutMs)
        return request()
      })

      await call(notes)

      expect(calls).toMatchObject([{ maxTimeMS: 5_000 }])
      expect(new Set(limits)).toEqual(new Set([5_800]))
    },
  )

  it('of a read may have another limit', async () => {
    const calls: Document[] = []
    const limits: number[] = []
    const notes = new MongoCollection<Note>(recordingCollection(calls), (request, timeoutMs) => {
      limits.push(timeoutMs)
      return request()
    })

    await notes.findOne({}, undefined, 100)
    await notes.count({}, { timeoutMs: 300 })
    await Array.fromAsync(notes.find({}, { timeoutMs: 400 }))

    expect(calls.map(({ maxTimeMS }) => maxTimeMS)).toEqual([100, 300, 400])
    expect(limits).toEqual([900, 1_100, 1_200])
  })
})
