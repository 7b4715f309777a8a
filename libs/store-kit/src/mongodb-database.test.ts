import { afterAll, describe, expect, it } from 'vitest'
import { migrateMongodb } from './migrate-mongodb.ts'
import { MongoDatabase } from './mongodb-database.ts'
import type { MongoSchema } from './mongodb-schema.ts'
import { startMongo } from './testing/mongodb.ts'

const mongo = await startMongo()
afterAll(() => mongo[Symbol.asyncDispose]())

const unavailable = { status: 'UNAVAILABLE', reason: 'STORE_UNAVAILABLE' }
const schema: MongoSchema = {
  store: 'notes',
  version: 1,
  indexes: [{ collection: 'notes', name: 'notes_by_text', key: { text: 1 }, unique: true }],
}

describe('a deployment that is away', () => {
  it('is UNAVAILABLE within seconds', async () => {
    await using database = new MongoDatabase('mongodb://127.0.0.1:1/notes')
    const begin = performance.now()

    await expect(database.collection('notes').findOne({})).rejects.toMatchObject(unavailable)
    await expect(Array.fromAsync(database.collection('notes').find({}))).rejects.toMatchObject(unavailable)
    await expect(database.collection('notes').insert({})).rejects.toMatchObject(unavailable)
    await expect(database.ping(schema)).rejects.toMatchObject(unavailable)

    expect(performance.now() - begin).toBeLessThan(15_000)
  })
})

describe('a database that is closed', () => {
  it('is UNAVAILABLE, also when it was never asked before', async () => {
    const database = new MongoDatabase(mongo.url)
    await database.close()

    await expect(database.collection('notes').findOne({})).rejects.toMatchObject(unavailable)
    await database.close()
  })

  it('answered what was asked before', async () => {
    const database = new MongoDatabase(mongo.url)
    const inserted = database.collection('log').insert({ text: 'just in time' })

    await database.close()

    expect(await inserted).toBe(true)
  })
})

describe('migrateMongodb', () => {
  it('is what a store demands before it is ready', async () => {
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

  it('may run again, and twice at once, and leaves a newer note alone', async () => {
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

describe('the URL', () => {
  it.each([
    'mongodb://user:secret@host:27017',
    'mongodb://user:secret@host/',
    'mongodb://user:secret@host/?w=1',
  ])('names a database, unlike %s', (url) => {
    expect(() => new MongoDatabase(url)).toThrow(/^The mongodb: URL names no database\. Use (?!.*secret)/)
  })
})
