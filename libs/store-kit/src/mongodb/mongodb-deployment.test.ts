import { startStandaloneMongo } from '@fms/testkit/mongodb'
import { afterAll, describe, expect, it } from 'vitest'
import { openIfSupported } from '../open-if-supported.ts'
import { inspectMongodb } from './inspect-mongodb.ts'
import { migrateMongodb } from './migrate-mongodb.ts'
import { MongoDatabase } from './mongodb-database.ts'
import { assertSupported, type Deployment } from './mongodb-deployment.ts'

const standalone = await startStandaloneMongo()
afterAll(() => standalone?.[Symbol.asyncDispose]())

const schema = { store: 'notes', version: 1, oldestVersion: 1, indexes: [] }

const refusal = (message: string, advice: string) => ({
  status: 'UNAVAILABLE',
  reason: 'STORE_NOT_SUPPORTED',
  httpStatus: 503,
  message: expect.not.stringMatching(/mongo/i),
  parts: {
    cause: expect.objectContaining({ message: expect.stringContaining(message) }),
    advice: expect.stringContaining(advice),
  },
})

const noTransactions = refusal(
  'standalone server',
  "mongod --replSet rs0, then once mongosh --eval 'rs.initiate()'",
)

describe.runIf(standalone)('a standalone server', () => {
  it('is refused by ping, at the start of a service, by a migration, an inspection and each request', async () => {
    const { url } = standalone!
    await using database = new MongoDatabase(url)
    const store = { ping: () => database.ping(schema), close: () => database.close() }

    await expect(database.ping(schema)).rejects.toMatchObject(noTransactions)
    await expect(migrateMongodb(url, schema)).rejects.toMatchObject(noTransactions)
    await expect(inspectMongodb(url, schema)).rejects.toMatchObject(noTransactions)
    await expect(database.collection('notes').insert({})).rejects.toMatchObject(noTransactions)
    await expect(database.transaction(async () => 1)).rejects.toMatchObject(noTransactions)
    await expect(openIfSupported(store)).rejects.toMatchObject(noTransactions)
    await expect(database.collection('notes').findOne({})).rejects.toMatchObject({
      reason: 'STORE_UNAVAILABLE',
    })
  })
})

describe('assertSupported', () => {
  const deployment: Deployment = { version: '8.0.17', topology: 'replica set' }
  const outcomeOf = (changes: Partial<Deployment>): unknown => {
    try {
      return assertSupported({ ...deployment, ...changes })
    } catch (error) {
      return error
    }
  }

  it.each<[string, Partial<Deployment>]>([
    ['a replica set', { featureCompatibilityVersion: '8.0' }],
    ['one whose feature compatibility version cannot be read', {}],
    ['a sharded cluster', { topology: 'sharded cluster' }],
    ['a later version', { version: '10.1.0', featureCompatibilityVersion: '10.1' }],
  ])('accepts %s', (_, changes) => {
    expect(outcomeOf(changes)).toBeUndefined()
  })

  it.each<[string, Partial<Deployment>, object]>([
    ['a standalone server', { topology: 'standalone server' }, noTransactions],
    ['a version before 8.0', { version: '7.0.28' }, refusal('MongoDB 7.0.28 is older than 8.0', 'Upgrade')],
    [
      'the features of a version before 8.0',
      { featureCompatibilityVersion: '7.0' },
      refusal('feature compatibility version 7.0', 'setFeatureCompatibilityVersion: "8.0", confirm: true'),
    ],
  ])('refuses %s', (_, changes, expected) => {
    expect(outcomeOf(changes)).toMatchObject(expected)
  })
})
