import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { startMongo } from '@fms/testkit/mongodb'
import { openFailpoints } from '@fms/testkit/mongodb/failpoints'
import { recordMongodb } from '@fms/testkit/mongodb/mongodb-recorder'
import { MongoClient, MongoServerError } from 'mongodb'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { retryOnConflict, writeConflict } from '../retry-on-conflict.ts'
import { MongoDatabase } from './mongodb-database.ts'
import { type MongoTransaction, runTransaction } from './mongodb-transaction.ts'

interface Note {
  _id: string
  text: string
  count: number
}

const mongo = await startMongo()
const failpoints = await openFailpoints(mongo)
afterAll(async () => {
  await failpoints?.[Symbol.asyncDispose]()
  await mongo[Symbol.asyncDispose]()
})

const unavailable = { status: 'UNAVAILABLE', reason: 'STORE_UNAVAILABLE' }

const note = (_id: string = randomUUID()): Note => ({ _id, text: 'a', count: 0 })

/** Two notes in `notes`, whose texts are unique in `titles`, and a client whose requests failpoints can fail. */
const given = async () => {
  await using cleanup = new AsyncDisposableStack()
  const database = cleanup.use(new MongoDatabase(failpoints?.url ?? mongo.url))
  const notes = database.collection<Note>('notes')
  const titles = database.collection<{ text: string }>('titles')
  await database.createIndex({ collection: 'titles', name: 'titles_by_text', key: { text: 1 }, unique: true })
  const [_id, other] = [randomUUID(), randomUUID()]
  for (const each of [_id, other]) await notes.insert(note(each))
  const rest = cleanup.move()
  const read = async (id = _id) => (await notes.findOne({ _id: id }))?.count
  return { database, notes, titles, _id, other, read, [Symbol.asyncDispose]: () => rest.disposeAsync() }
}

const add = (_id: string) => ({ collection: 'notes', update: { _id }, by: { $inc: { count: 1 } } })

/** Counts a note up, and returns how often this work has run. */
const counting = (_id: string) => {
  let runs = 0
  return async (transaction: MongoTransaction) => {
    await transaction.write([add(_id)])
    return ++runs
  }
}

describe('a transaction', () => {
  it('stores all of its writes, and returns the result of its work', async () => {
    await using all = await given()
    const { database, titles, _id, other } = all
    const text = randomUUID()

    const counts = await database.transaction((transaction) =>
      transaction.write([
        add(_id),
        { collection: 'titles', insert: { text } },
        { collection: 'notes', deleteOne: { _id: other } },
        { collection: 'notes', update: { _id: 'none' }, by: { $inc: { count: 1 } } },
        { collection: 'notes', update: { _id: `${_id}-new` }, by: { $set: { count: 7 } }, upsert: true },
        { collection: 'notes', deleteMany: { text: 'none' } },
      ]),
    )

    expect(counts).toEqual({ matched: 2, deleted: 1 })
    expect(await titles.has({ text })).toBe(true)
    expect([await all.read(), await all.read(other), await all.read(`${_id}-new`)]).toEqual([1, undefined, 7])
  })

  it('reads its own writes, and nothing that was stored after its first read', async () => {
    await using all = await given()
    const { database, notes, _id, other } = all

    const found = await database.transaction(async (transaction) => {
      await transaction.write([add(_id)])
      await notes.set({ _id: other }, { count: 5 })
      return [
        await transaction.findOne('notes', { _id }),
        ...(await transaction.find(
          'notes',
          { _id: other },
          { sort: { _id: 1 }, limit: 1, fields: ['count'] },
        )),
        ...(await transaction.aggregate('notes', [{ $match: { _id } }, { $project: { text: 1 } }])),
      ]
    })

    expect(found).toEqual([
      { _id, text: 'a', count: 1 },
      { _id: other, count: 0 },
      { _id, text: 'a' },
    ])
    expect(await all.read(other)).toBe(5)
  })

  it('changes nothing if its work fails, and frees its documents', async () => {
    await using all = await given()
    const failure = new Error('refused')

    const failed = all.database.transaction(async (transaction) => {
      await transaction.write([add(all._id)])
      throw failure
    })

    await expect(failed).rejects.toBe(failure)
    expect(await all.read()).toBe(0)
    expect(await all.database.transaction(counting(all._id))).toBe(1)
  })

  it('changes nothing if its work returns a conflict', async () => {
    await using all = await given()

    const outcome = await all.database.transaction(async (transaction) => {
      await transaction.write([add(all._id)])
      return writeConflict
    })

    expect(outcome).toBe(writeConflict)
    expect(await all.read()).toBe(0)
    expect(await all.database.transaction(counting(all._id))).toBe(1)
  })

  it('changes nothing if `beforeCommit` throws, with all documents locked until then', async () => {
    await using all = await given()
    const tooLate = new Error('too late')
    const beforeCommit = vi.fn(() => {
      throw tooLate
    })

    await expect(all.database.transaction(counting(all._id), { beforeCommit })).rejects.toBe(tooLate)

    expect(beforeCommit).toHaveBeenCalledOnce()
    expect(await all.read()).toBe(0)
    expect(await all.database.transaction(counting(all._id))).toBe(1)
  })

  it('is a conflict if another one has changed its document first', async () => {
    await using all = await given()
    const { database, _id, other } = all

    const outcome = await database.transaction(async (transaction) => {
      await transaction.write([add(other)])
      expect(await database.transaction(counting(_id))).toBe(1)
      await transaction.write([add(_id)])
    })

    expect(outcome).toBe(writeConflict)
    expect([await all.read(_id), await all.read(other)]).toEqual([1, 0])
  })

  it('is a conflict while another one holds its document', async () => {
    await using all = await given()

    const result = await all.database.transaction(async (transaction) => {
      await transaction.write([add(all._id)])
      return all.database.transaction(counting(all._id)).then((outcome) => outcome === writeConflict)
    })

    expect(result).toBe(true)
    expect(await all.read()).toBe(1)
  })

  it('is a conflict where a unique index has rejected a document, and changes nothing', async () => {
    await using all = await given()
    const { database, titles, _id } = all
    const text = randomUUID()
    await titles.insert({ text })

    const result = await database.transaction((transaction) =>
      transaction.write([add(_id), { collection: 'titles', insert: { text } }, add(_id)]),
    )

    expect(result).toBe(writeConflict)
    expect(await all.read()).toBe(0)
    expect(await database.transaction(counting(_id))).toBe(1)
  })

  it('sends its writes in one request with the time limit of its database, and waits 4.5 s for the journals of a majority', async () => {
    await using recorder = await recordMongodb(mongo.url)
    await using database = new MongoDatabase(recorder.url, undefined, { engineTimeoutMs: 60_000 })

    await database.transaction(counting('none'))

    expect(recorder.take()).toMatchObject([
      { bulkWrite: 1, startTransaction: true, maxTimeMS: 60_000 },
      { commitTransaction: 1, writeConcern: { w: 'majority', j: true, wtimeout: 4_500 } },
    ])
  })

  it('reads one snapshot of all shards of a sharded cluster', async () => {
    await using recorder = await recordMongodb(mongo.url)
    await using client = new MongoClient(recorder.url)

    await runTransaction(client, 'test', (transaction) => transaction.find('notes', {}), {
      isSharded: true,
      timeoutMs: 5_000,
    })

    expect(recorder.take()).toMatchObject([
      { find: 'notes', startTransaction: true, readConcern: { level: 'snapshot' } },
      { commitTransaction: 1 },
    ])
  })

  it('without requests commits nothing', async () => {
    await using all = await given()

    expect(await all.database.transaction(async () => 'nothing')).toBe('nothing')
  })

  it('passes on errors that are neither conflicts nor the state of the store', async () => {
    await using all = await given()

    const failed = all.database.transaction((transaction) =>
      transaction.write([{ collection: 'notes', update: { _id: all._id }, by: { $inc: { text: 1 } } }]),
    )

    await expect(failed).rejects.toBeInstanceOf(MongoServerError)
    await expect(failed).rejects.toThrow(/numeric|non-number/)
    expect(await all.read()).toBe(0)
  })
})

describe.runIf(failpoints)('a commit', () => {
  const unconfirmed = { code: 64, errmsg: 'waiting for replication timed out' }

  it.each([
    ['whose connection breaks once', { closeConnection: true }, 1],
    ['whose connection breaks again and again', { closeConnection: true }, 5],
    ['that a majority does not confirm at first', { writeConcernError: unconfirmed }, 2],
    ['during an election', { errorCode: 11602, errorLabels: ['RetryableWriteError'] }, 5],
  ])('%s is repeated, and happens once', async (_, failure, times) => {
    await using all = await given()

    const outcome = await failpoints!.during(
      { failCommands: ['commitTransaction'], ...failure },
      () => all.database.transaction(counting(all._id)),
      times,
    )

    expect(outcome).toBe(1)
    expect(await all.read()).toBe(1)
  })

  it('that stays unknown until the deadline is UNAVAILABLE, and does not happen later', async () => {
    await using all = await given()
    const options = { deadline: performance.now() + 100 }

    const failed = failpoints!.during({ failCommands: ['commitTransaction'], closeConnection: true }, () =>
      all.database.transaction(counting(all._id), options),
    )

    await expect(failed).rejects.toMatchObject(unavailable)
    expect(await all.read()).toBe(0)
    // The document is not locked any more.
    expect(await all.database.transaction(counting(all._id))).toBe(1)
    expect(await all.read()).toBe(1)
  })

  it('that no majority confirms until the deadline is UNAVAILABLE, and may have happened', async () => {
    await using all = await given()
    const options = { deadline: performance.now() + 100 }
    const failure = { failCommands: ['commitTransaction'], writeConcernError: unconfirmed }

    const failed = failpoints!.during(failure, () => all.database.transaction(counting(all._id), options))

    await expect(failed).rejects.toMatchObject({
      ...unavailable,
      parts: { advice: expect.stringContaining('rs.status()') },
    })
    expect(await all.read()).toBe(1)
  })

  it('of a transaction that the server has aborted is a conflict', async () => {
    await using all = await given()
    const failure = { errorCode: 251, errorLabels: ['TransientTransactionError'] }

    const outcome = await failpoints!.during({ failCommands: ['commitTransaction'], ...failure }, () =>
      all.database.transaction(counting(all._id)),
    )

    expect(outcome).toBe(writeConflict)
  })
})

describe.runIf(failpoints)('a request of a transaction', () => {
  it.each(['bulkWrite', 'find'])('whose connection breaks (%s) repeats the transaction', async (command) => {
    await using all = await given()
    let runs = 0
    const work = async (transaction: MongoTransaction) => {
      runs++
      await transaction.findOne('notes', { _id: all._id })
      await transaction.write([add(all._id)])
      return runs
    }

    const outcome = await failpoints!.during(
      { failCommands: [command], closeConnection: true },
      () => all.database.transaction(work),
      2,
    )

    expect(outcome).toBe(3)
    expect(await all.read()).toBe(1)
  })

  it('whose connection breaks for the third time is UNAVAILABLE', async () => {
    await using all = await given()
    let runs = 0
    const work = async (transaction: MongoTransaction) => {
      runs++
      await transaction.write([add(all._id)])
    }

    const failed = failpoints!.during({ failCommands: ['bulkWrite'], closeConnection: true }, () =>
      all.database.transaction(work),
    )

    await expect(failed).rejects.toMatchObject(unavailable)
    expect(runs).toBe(3)
    expect(await all.read()).toBe(0)
  })

  const election = { errorCode: 11602, errorLabels: ['TransientTransactionError'] }
  const conflict = { errorCode: 112, errorLabels: ['TransientTransactionError'] }

  it('during an election repeats the transaction, by the label of the cause of a client bulkWrite', async () => {
    await using all = await given()
    let runs = 0
    const work = async (transaction: MongoTransaction) => {
      runs++
      await transaction.write([add(all._id)])
      return runs
    }

    const outcome = await failpoints!.during(
      { failCommands: ['bulkWrite'], ...election },
      () => all.database.transaction(work),
      1,
    )

    expect(outcome).toBe(2)
    expect(await all.read()).toBe(1)
  })

  it('that conflicts is not repeated here', async () => {
    await using all = await given()
    const work = vi.fn((transaction: MongoTransaction) => transaction.write([add(all._id)]))

    const outcome = await failpoints!.during({ failCommands: ['bulkWrite'], ...conflict }, () =>
      all.database.transaction(work),
    )

    expect(outcome).toBe(writeConflict)
    expect(work).toHaveBeenCalledOnce()
  })

  it.each([
    ['for a missing right', 13, 'readWrite'],
    ['for its time limit', 50, undefined],
    ['for a full disk', 14031, 'Free space'],
  ])('that the server rejects %s is UNAVAILABLE', async (_, errorCode, advice) => {
    await using all = await given()

    const failed = failpoints!.during({ failCommands: ['bulkWrite'], errorCode }, () =>
      all.database.transaction(counting(all._id)),
    )

    await expect(failed).rejects.toMatchObject({
      ...unavailable,
      parts: {
        cause: expect.any(MongoServerError),
        ...(advice && { advice: expect.stringContaining(advice) }),
      },
    })
    expect(await all.read()).toBe(0)
  })
})

describe('a client that is killed between its writes and its commit', () => {
  it('changes nothing, and frees its documents when the lifetime of transactions has passed', async () => {
    await using all = await given()
    const program = `
      const { MongoDatabase } = await import('${new URL('./mongodb-database.ts', import.meta.url)}')
      const database = new MongoDatabase('${mongo.url}')
      await database.transaction(async (transaction) => {
        await transaction.write([{
          collection: 'notes', update: { _id: '${all._id}' }, by: { $inc: { count: 100 } },
        }])
        console.log('written')
        await new Promise((resolve) => setTimeout(resolve, 60_000))
      })`
    const client = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(client.stdout, 'data')
    client.kill('SIGKILL')
    await once(client, 'exit')
    expect(await all.database.transaction(counting(all._id))).toBe(writeConflict)

    // 5 s of lifetime, and what a server needs to notice it: mongod looks every half of that.
    const deadline = performance.now() + 20_000
    const givenUp = () => new Error('locked: is transactionLifetimeLimitSeconds 5?')
    await retryOnConflict(() => all.database.transaction(counting(all._id)), givenUp, deadline)

    expect(await all.read()).toBe(1)
  })
})
