import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { startMongo, startStandaloneMongo } from '@fms/testkit/mongodb'
import { freePorts } from '@fms/testkit/ports'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { migrateMongodb } from './migrate-mongodb.ts'
import { MongoDatabase } from './mongodb-database.ts'
import { type MongoSchema, metaCollection, type SchemaDocument } from './mongodb-schema.ts'

const mongo = await startMongo()
const standalone = await startStandaloneMongo()
afterAll(async () => {
  await mongo[Symbol.asyncDispose]()
  await standalone?.[Symbol.asyncDispose]()
})

const newUrl = () => mongo.url.replace(/\/[^/?]*(\?|$)/, `/test_${randomUUID().slice(0, 8)}$1`)

const unavailable = { status: 'UNAVAILABLE', reason: 'STORE_UNAVAILABLE' }
const schema: MongoSchema = {
  store: 'notes',
  version: 1,
  oldestVersion: 1,
  indexes: [{ collection: 'notes', name: 'notes_by_text', key: { text: 1 }, unique: true }],
}

describe('an unreachable deployment', () => {
  it('is UNAVAILABLE within seconds', async () => {
    await using database = new MongoDatabase('mongodb://127.0.0.1:1/notes')
    const startedAt = performance.now()

    await expect(database.collection('notes').findOne({})).rejects.toMatchObject(unavailable)
    await expect(Array.fromAsync(database.collection('notes').find({}))).rejects.toMatchObject(unavailable)
    await expect(database.collection('notes').insert({})).rejects.toMatchObject(unavailable)
    await expect(database.ping(schema)).rejects.toMatchObject(unavailable)

    // Two seconds for each. The driver would wait for 30.
    expect(performance.now() - startedAt).toBeLessThan(30_000)
  })
})

describe('a deployment that is unreachable at first', () => {
  it('serves the first request after it can be reached', async () => {
    const [port] = (await freePorts(1)) as [number]
    const engine = new URL(mongo.url)
    const url = new URL(newUrl())
    url.hostname = '127.0.0.1'
    url.port = `${port}`
    url.searchParams.set('directConnection', 'true')
    await using database = new MongoDatabase(url.href)
    const notes = database.collection('notes')
    await Promise.all([
      expect(notes.findOne({})).rejects.toMatchObject(unavailable),
      expect(database.ping(schema)).rejects.toMatchObject(unavailable),
    ])
    await expect(notes.findOne({})).rejects.toMatchObject(unavailable)

    await using _ = await startProxy(port, engine)

    expect(await notes.findOne({})).toBeUndefined()
    expect(await notes.insert({ text: 'a' })).toBe(true)
  })
})

describe.runIf(standalone)('a server that comes back as a standalone', () => {
  it('fails the next ping', async () => {
    const [port] = (await freePorts(1)) as [number]
    await using database = new MongoDatabase(`mongodb://127.0.0.1:${port}/test?directConnection=true`)
    const ping = () => database.ping({ ...schema, store: 'none', version: 0 })
    const before = await startProxy(port, new URL(mongo.url))
    await ping()

    await before[Symbol.asyncDispose]()
    await using _ = await startProxy(port, new URL(standalone!.url))

    await vi.waitFor(() => expect(ping()).rejects.toMatchObject({ reason: 'STORE_NOT_SUPPORTED' }), 10_000)
  })
})

/** Forwards the connections of a port to an engine. */
const startProxy = async (port: number, engine: URL): Promise<AsyncDisposable> => {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    const upstream = connect(Number(engine.port || 27017), engine.hostname)
    for (const each of [socket, upstream]) sockets.add(each.on('error', () => {}))
    socket.pipe(upstream).pipe(socket)
  })
  await once(server.listen(port, '127.0.0.1'), 'listening')
  return {
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

describe('a replica set of another name', () => {
  it('is UNAVAILABLE, with advice to its operator', async () => {
    const url = new URL(mongo.url)
    url.searchParams.delete('directConnection')
    url.searchParams.set('replicaSet', 'other')
    await using database = new MongoDatabase(url.href)

    await expect(database.ping(schema)).rejects.toMatchObject({
      ...unavailable,
      parts: { advice: expect.stringContaining('Check replicaSet') },
    })
  })
})

describe('a request without a response', () => {
  it('is UNAVAILABLE after its time limit, and does not end the requests beside it', async () => {
    await using database = new MongoDatabase(mongo.url)
    const hanging = Promise.withResolvers<void>()

    const failed = database.run(() => hanging.promise, 50)
    const found = database.collection('log').findOne({ text: 'none' })

    await expect(failed).rejects.toMatchObject({
      ...unavailable,
      parts: { cause: expect.objectContaining({ message: expect.stringContaining('50 ms') }) },
    })
    expect(await found).toBeUndefined()
    hanging.reject(new Error('too late'))
  })
})

describe('a closed database', () => {
  it('is UNAVAILABLE, even before its first request', async () => {
    const database = new MongoDatabase(mongo.url)
    await database.close()

    await expect(database.collection('notes').findOne({})).rejects.toMatchObject(unavailable)
    await database.close()
  })

  it('has completed the requests before it', async () => {
    const database = new MongoDatabase(mongo.url)
    const inserted = database.collection('log').insert({ text: 'just in time' })

    await database.close()

    expect(await inserted).toBe(true)
  })

  it('waits for no request that its caller has given up', async () => {
    const database = new MongoDatabase(mongo.url)
    const hanging = () => new Promise<never>(() => {})
    await database.collection('log').findOne({ text: 'none' })
    await expect(database.run(hanging, 50)).rejects.toMatchObject(unavailable)

    await database.close()
  })
})

describe('migrateMongodb', () => {
  it('prepares a store, whose ping fails before', async () => {
    await using database = new MongoDatabase(mongo.url)
    await expect(database.ping(schema)).rejects.toMatchObject({
      status: 'UNAVAILABLE',
      reason: 'STORE_NOT_MIGRATED',
      message: expect.stringContaining('formctl migrate'),
    })

    expect(await migrateMongodb(mongo.url, schema)).toEqual({ engine: 'MongoDB', version: 1 })
    await database.ping(schema)
    await expect(database.ping({ ...schema, version: 2 })).rejects.toMatchObject({
      reason: 'STORE_NOT_MIGRATED',
    })
  })

  it('may run again and concurrently, and keeps a newer version', async () => {
    await using database = new MongoDatabase(mongo.url)
    await Promise.all([
      migrateMongodb(mongo.url, schema),
      migrateMongodb(mongo.url, { ...schema, version: 2 }),
    ])
    await migrateMongodb(mongo.url, schema)

    await database.ping({ ...schema, version: 2 })
    const notes = database.collection('notes')
    expect(await notes.insert({ text: 'once' })).toBe(true)
    expect(await notes.insert({ text: 'once' })).toBe(false)
  })
})

describe('a store that a newer release has migrated', () => {
  const tooNew = {
    status: 'UNAVAILABLE',
    reason: 'STORE_SCHEMA_TOO_NEW',
    message: expect.stringContaining('Upgrade this service, or restore the backup'),
    parts: {
      metadata: { store: 'letters', knownVersion: '1', version: '2', oldestVersion: '2' },
      retryAfterSeconds: 1,
    },
  }
  const first: MongoSchema = { ...schema, store: 'letters', indexes: [] }
  const second: MongoSchema = { ...first, version: 2, oldestVersion: 2 }
  const compatible: MongoSchema = { ...first, version: 2 }

  const given = async () => {
    const url = newUrl()
    await migrateMongodb(url, first)
    const older = new MongoDatabase(url, first)
    await older.ping(first)
    return { url, older, letters: older.collection('letters') }
  }

  it('can be used by a compatible release', async () => {
    const { url, older, letters } = await given()
    await using _ = older

    await migrateMongodb(url, compatible)

    await older.ping(first)
    expect(await letters.insert({ text: 'first' })).toBe(true)
    await migrateMongodb(url, first)
    await older.ping(compatible)
  })

  it('fails pings and migrations of an excluded release and stays unchanged', async () => {
    const { url, older } = await given()
    await using _ = older
    await migrateMongodb(url, second)
    const onStep = vi.fn()

    await expect(older.ping(first)).rejects.toMatchObject(tooNew)
    await expect(migrateMongodb(url, first, { onStep })).rejects.toMatchObject(tooNew)

    expect(onStep).not.toHaveBeenCalled()
    await older.ping(second)
  })

  it('has excluded the reads and changes of older releases before it creates indexes', async () => {
    const { url, older, letters } = await given()
    await using _ = older
    await letters.insert({ text: 'first' })

    let attempts: Promise<unknown> | undefined
    const onStep = ({ title }: { title: string }) => {
      if (title.startsWith('index'))
        attempts = Promise.allSettled([letters.insert({ text: 'second' }), letters.findOne({})])
    }
    await migrateMongodb(url, { ...second, indexes: schema.indexes }, { onStep })

    expect(await attempts).toMatchObject(
      Array(2).fill({ status: 'rejected', reason: { reason: tooNew.reason } }),
    )
  })

  it('is migrated without a wait when no release is excluded', async () => {
    const url = newUrl()

    await migrateMongodb(url, second, { exclusionMs: 3_600_000 })
    await migrateMongodb(url, second, { exclusionMs: 3_600_000 })
  })

  it('admits only its own version when the earlier release has recorded no oldest version', async () => {
    const { url, older } = await given()
    await using _ = older
    await using raw = new MongoDatabase(url)
    const meta = raw.collection<SchemaDocument>(metaCollection)
    await meta.deleteOne({ _id: 'letters' })
    await meta.insert({ _id: 'letters', version: 2 })

    await expect(older.ping(first)).rejects.toMatchObject(tooNew)
    await migrateMongodb(url, compatible)

    expect(await meta.findOne({ _id: 'letters' })).toMatchObject({ version: 2, oldestVersion: 1 })
  })
})

describe('the URL of a database', () => {
  it.each([
    'mongodb://user:secret@host:27017',
    'mongodb://user:secret@host/',
    'mongodb://user:secret@host/?w=1',
  ])('has to name a database: %s', (url) => {
    expect(() => new MongoDatabase(url)).toThrow(/^The mongodb: URL names no database\. Use (?!.*secret)/)
  })

  it.each([
    'mongodb://user:sec/ret@host/notes',
    'mongodb://user:se@cret@host/notes',
    'mongodb://user:sec%ret@host/notes',
    'mongodb://user:secret@host/notes?tls=perhaps',
    'mongodb://user:secret@host/notes?replicaSet=',
    'mongodb://user:secret@host/notes?directConnection=true&replicaSet=a&replicaSet=b',
  ])('has to be valid, and is not repeated in the error: %s', (url) => {
    expect(() => new MongoDatabase(url)).toThrow(
      /^The mongodb: URL (?:is invalid|names no database)(?!.*se.?c.?ret)/,
    )
  })
})
