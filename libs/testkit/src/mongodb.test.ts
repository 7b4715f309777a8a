import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { MongoClient } from 'mongodb'
import { describe, expect, it } from 'vitest'
import { mongodbSuites } from './mongodb/mongodb-suites.ts'
import { startMongo, startOwnMongo } from './mongodb.ts'

describe('startMongo', () => {
  it('creates an empty database that stores documents, and names its engine', async () => {
    await using mongo = await startMongo()
    await using client = new MongoClient(mongo.url)
    const forms = client.db().collection<{ _id: string }>('forms')
    const before = await forms.countDocuments({})
    await forms.insertOne({ _id: 'a' })

    expect(before).toBe(0)
    expect(await forms.find().toArray()).toEqual([{ _id: 'a' }])
    expect(mongo.engine).toMatch(/^(MongoDB|secantusdb) \d/)
  })

  it('creates a database for each test on the server at TEST_MONGODB_URL', async () => {
    await using mongo = await startMongo()
    await using one = await startOwnMongo({ TEST_MONGODB_URL: mongo.url })
    await using other = await startOwnMongo({ TEST_MONGODB_URL: mongo.url })

    expect(one.engine).toContain('TEST_MONGODB_URL')
    expect(one.url).not.toBe(other.url)
  })

  it('rejects if the server at TEST_MONGODB_URL is unreachable', async () => {
    const url = 'mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=200'

    await expect(startOwnMongo({ TEST_MONGODB_URL: url })).rejects.toThrow(/ECONNREFUSED/)
  })

  it('starts only the engine that TEST_MONGODB_ENGINE names', async () => {
    const env = { ...process.env, TEST_MONGODB_URL: '' }
    await using mongo = await startOwnMongo({ ...env, TEST_MONGODB_ENGINE: 'secantusdb' })

    expect(mongo.engine).toMatch(/^secantusdb/)
    await expect(startOwnMongo({ ...env, TEST_MONGODB_ENGINE: 'postgres' })).rejects.toThrow(
      'TEST_MONGODB_ENGINE must be docker, secantusdb; it is postgres',
    )
  })

  it.skipIf(process.env.TEST_MONGODB_URL)('ends the engine when its process is killed', async () => {
    const program = `
      const { startMongo } = await import('${new URL('./mongodb.ts', import.meta.url)}')
      console.log((await startMongo()).url)
      setInterval(() => {}, 1000)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [url] = (await once(createInterface(child.stdout), 'line')) as [string]
    const port = Number(new URL(url.replace('mongodb:', 'http:')).port)

    expect(await accepts(port)).toBe(true)
    child.kill('SIGKILL')
    await expect.poll(() => accepts(port), { timeout: 20_000 }).toBe(false)
  })
})

const accepts = async (port: number): Promise<boolean> => {
  const socket = connect(port, '127.0.0.1')
  try {
    await Promise.race([once(socket, 'connect'), delay(1_000).then(() => Promise.reject())])
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

describe('mongodbSuites', () => {
  it('are the test files that start a MongoDB, and those in folders of that name', () => {
    expect(mongodbSuites()).toEqual(
      expect.arrayContaining([
        'libs/store-kit/src/mongodb/filter-mongodb.test.ts',
        'libs/testkit/src/mongodb.test.ts',
        'services/publisher/src/relay/relay-on-mongodb.test.ts',
      ]),
    )
    expect(mongodbSuites()).not.toContain('libs/store-kit/src/sqlite/sqlite-database.test.ts')
  })
})
