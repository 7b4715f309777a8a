import { MongoClient, type MongoServerError } from 'mongodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type LocalCluster, readCompose, runOperatorSetup, startCluster } from './compose.ts'

let cluster: LocalCluster

beforeAll(async () => {
  cluster = await startCluster({ users: true })
})
afterAll(() => cluster?.[Symbol.asyncDispose]())

/** The store URLs of a service in docker-compose.yml. */
const urlsOf = (service: string): string[] =>
  Object.entries(readCompose(cluster.env).services[service]!.environment!)
    .filter(([name]) => name.endsWith('_STORE_URL'))
    .map(([, url]) => cluster.localUrl(url))

/** Writes to a database as the user of the URL. @returns `written`, or the server's error code name. */
const write = async (url: string, database: string): Promise<string> => {
  await using client = new MongoClient(url)
  const rights = client.db(database).collection('rights')
  return await rights.insertOne({}).then(
    () => 'written',
    ({ codeName }: MongoServerError) => `${codeName}`,
  )
}

/** Reads from a collection as the user of the URL. @returns `read`, or the server's error code name. */
const read = async (url: string, database: string, collection: string): Promise<string> => {
  await using client = new MongoClient(url)
  return await client
    .db(database)
    .collection(collection)
    .findOne({})
    .then(
      () => 'read',
      ({ codeName }: MongoServerError) => `${codeName}`,
    )
}

describe('the cluster on an engine with users', () => {
  it('starts with a user for each process, and publishes a form', async () => {
    const stdout = await runOperatorSetup(cluster)

    expect(cluster.engine).toMatch(/^SecantusDB \d/)
    expect(stdout).toMatch(/Done: create, edit, publish, read, list and delete all worked\.\n$/)
  })

  it.each([
    ['organizations', 'directory', 'forms'],
    ['forms', 'forms', 'directory'],
    ['publisher', 'forms', 'directory'],
  ])('gives %s access to %s, and neither to %s nor to the users', async (service, own, other) => {
    const [url] = urlsOf(service)

    expect(await write(url!, own)).toBe('written')
    expect(await write(url!, other)).toBe('Unauthorized')
    expect(await read(url!, other, 'rights')).toBe('Unauthorized')
    expect(await read(url!, 'admin', 'system.users')).toBe('Unauthorized')
  })

  it('gives formctl and migrate access only to both databases', async () => {
    for (const url of [...urlsOf('formctl'), ...urlsOf('migrate')]) {
      expect(await write(url, 'directory')).toBe('written')
      expect(await write(url, 'forms')).toBe('written')
      expect(await write(url, 'admin')).toBe('Unauthorized')
    }
  })

  it.each([
    ['forms', 'Unauthorized'],
    ['formctl', 'read'],
  ])('lets formctl doctor alone read server parameters: %s, %s', async (service, outcome) => {
    await using client = new MongoClient(urlsOf(service)[0]!)
    const request = { getParameter: 1, featureCompatibilityVersion: 1 }

    const found = await client
      .db()
      .admin()
      .command(request)
      .then(
        () => 'read',
        ({ codeName }: MongoServerError) => codeName,
      )

    expect(found).toBe(outcome)
  })

  it('requires a password', async () => {
    const [url] = urlsOf('forms')

    expect(await read(url!.replace(/\/\/.*@/, '//'), 'forms', 'rights')).toBe('Unauthorized')
  })

  it('updates a changed password of .env, and keeps the others', async () => {
    const [before] = urlsOf('publisher')
    const changed = 'a-fresh-password'
    const after = before!.replace(cluster.env.MONGODB_PUBLISHER_PASSWORD!, changed)

    await cluster.mongoInit({ MONGODB_PUBLISHER_PASSWORD: changed })

    expect(await write(after, 'forms')).toBe('written')
    expect(await write(before!, 'forms')).toBe('AuthenticationFailed')
    expect(await write(after, 'directory')).toBe('Unauthorized')
    expect(await write(urlsOf('forms')[0]!, 'forms')).toBe('written')
    await cluster.mongoInit({})
    expect(await write(before!, 'forms')).toBe('written')
  })
})
