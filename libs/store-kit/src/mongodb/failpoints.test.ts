import { randomUUID } from 'node:crypto'
import { inspect } from 'node:util'
import type { ApiError } from '@fms/aip'
import { startMongo } from '@fms/testkit/mongodb'
import { openFailpoints } from '@fms/testkit/mongodb/failpoints'
import { afterAll, describe, expect, it } from 'vitest'
import type { MongoCollection } from './mongodb-collection.ts'
import { MongoDatabase } from './mongodb-database.ts'

interface Note {
  _id: string
  text: string
}

const mongo = await startMongo()
const failpoints = await openFailpoints(mongo)
afterAll(async () => {
  await failpoints?.[Symbol.asyncDispose]()
  await mongo[Symbol.asyncDispose]()
})

const unavailable = { status: 'UNAVAILABLE', reason: 'STORE_UNAVAILABLE', httpStatus: 503 }

/** Two notes in a collection whose requests failpoints can fail. */
const given = async () => {
  await using cleanup = new AsyncDisposableStack()
  const database = cleanup.use(new MongoDatabase(failpoints!.url))
  const notes = database.collection<Note>('notes')
  const [_id, other] = [randomUUID(), randomUUID()]
  await notes.insert({ _id, text: 'a' })
  await notes.insert({ _id: other, text: 'b' })
  const rest = cleanup.move()
  return { notes, _id, other, [Symbol.asyncDispose]: () => rest.disposeAsync() }
}

type Given = Awaited<ReturnType<typeof given>>

describe.runIf(failpoints)('a write that a majority does not confirm', () => {
  const failure = {
    failCommands: ['insert', 'update', 'findAndModify', 'delete'],
    writeConcernError: { code: 64, errmsg: 'waiting for replication timed out' },
  }

  it.each<[string, (given: Given) => Promise<unknown>]>([
    ['an insert', ({ notes }) => notes.insert({ _id: randomUUID(), text: 'c' })],
    ['an insert of what exists', ({ notes, _id }) => notes.insert({ _id, text: 'a' })],
    ['an update', ({ notes, _id }) => notes.set({ _id }, { text: 'c' })],
    ['an update that changes nothing', ({ notes, _id }) => notes.set({ _id }, { text: 'a' })],
    ['an update that matches nothing', ({ notes }) => notes.set({ _id: 'none' }, { text: 'a' })],
    ['an update with a result', ({ notes, _id }) => notes.updateAndGet({ _id }, { $set: { text: 'c' } })],
    ['a delete', ({ notes, other }) => notes.deleteOne({ _id: other })],
    ['a delete that matches nothing', ({ notes }) => notes.deleteOne({ _id: 'none' })],
    ['a delete of several', ({ notes }) => notes.deleteMany({ text: 'none' })],
  ])('is UNAVAILABLE: %s', async (_, write) => {
    await using all = await given()

    const failed = failpoints!.during(failure, () => write(all))

    await expect(failed).rejects.toMatchObject({
      ...unavailable,
      parts: { advice: expect.stringContaining('rs.status()'), retryAfterSeconds: 1 },
    })
  })
})

describe.runIf(failpoints)('a user with a wrong password', () => {
  it('is UNAVAILABLE, with advice and without the password', async () => {
    const url = new URL(mongo.url)
    Object.assign(url, { username: 'nobody', password: 'wrong-secret' })
    await using database = new MongoDatabase(url.href)

    const error = await database
      .collection('notes')
      .findOne({})
      .catch((error: ApiError) => error)

    expect(error).toMatchObject({
      ...unavailable,
      parts: { advice: expect.stringContaining('Check user, password and authSource') },
    })
    expect(inspect(error, { depth: 10 })).not.toContain('wrong-secret')
  })
})

describe.runIf(failpoints)('a request that the server rejects', () => {
  const commands = ['find', 'aggregate', 'insert', 'update', 'findAndModify', 'delete']
  const requests: Record<string, (notes: MongoCollection<Note>) => Promise<unknown>> = {
    find: (notes) => notes.findOne({}),
    aggregate: (notes) => notes.count({}),
    insert: (notes) => notes.insert({ _id: randomUUID(), text: 'c' }),
    findAndModify: (notes) => notes.updateAndGet({ _id: 'none' }, { $set: { text: 'c' } }),
  }
  const overload = { errorCode: 462, errorLabels: ['SystemOverloadedError', 'RetryableError'] }

  it.each<[string, object, RegExp | undefined]>([
    ['for an election', { errorCode: 11602, errorLabels: ['RetryableWriteError'] }, undefined],
    ['for an election, without a label', { errorCode: 11602 }, undefined],
    ['for a missing right', { errorCode: 13 }, /readWrite/],
    ['for a wrong password', { errorCode: 18 }, /password/],
    ['for its time limit', { errorCode: 50 }, undefined],
    ['for overload', overload, /overloaded/],
    ['by closing the connection', { closeConnection: true }, undefined],
  ])('%s is UNAVAILABLE', async (_, failure, advice) => {
    for (const request of Object.values(requests)) {
      await using all = await given()
      const failed = failpoints!.during({ failCommands: commands, ...failure }, () => request(all.notes))

      const error = await failed.catch((error: ApiError) => error)

      expect(error).toMatchObject(unavailable)
      if (advice) expect((error as ApiError).parts.advice).toMatch(advice)
    }
  })

  it('for overload at first is repeated by the driver', async () => {
    await using all = await given()
    const failure = { failCommands: commands, ...overload }

    const found = await failpoints!.during(failure, () => all.notes.findOne({ _id: all._id }), 2)
    const isInserted = await failpoints!.during(failure, () => requests.insert!(all.notes), 2)

    expect([found, isInserted]).toEqual([{ _id: all._id, text: 'a' }, true])
  })

  it('after its caller has stopped waiting is UNAVAILABLE by then', async () => {
    await using all = await given()
    const failure = { failCommands: ['find'], blockConnection: true, blockTimeMS: 6_000 }

    const [error, ms] = await failpoints!.during(failure, async () => {
      const startedAt = performance.now()
      const error = await all.notes.findOne({}, undefined, 100).catch((error) => error)
      return [error, performance.now() - startedAt]
    })

    expect(error).toMatchObject(unavailable)
    expect(ms).toBeLessThan(5_000)
  })
})
