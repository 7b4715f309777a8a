import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hashSecret, makeApiKey, migrateDirectoryStore, openDirectoryStore } from '@fms/directory-store'
import { startMongo } from '@fms/testkit/mongodb'
import { describe, expect, it } from 'vitest'
import { createDemoLoginCode, ensureDemo } from './demo-data.ts'

describe('ensureDemo', () => {
  it('creates an organization and a key of its owner', async () => {
    await using directory = await emptyDirectory()
    const apiKey = makeApiKey()

    expect(await ensureDemo(directory.url, apiKey)).toEqual({ organizationSlug: 'demo', apiKey })

    const request = { keyHash: hashSecret(apiKey), organizationRef: 'demo' }
    const authorization = await directory.store.authorize(request, new Date())
    expect(authorization?.organization?.role).toBe('owner')
  })

  it('changes nothing the second time', async () => {
    await using directory = await emptyDirectory()
    const apiKey = makeApiKey()
    await ensureDemo(directory.url, apiKey)

    expect(await ensureDemo(directory.url, apiKey)).toEqual({ organizationSlug: 'demo', apiKey })
    expect(await directory.store.listKeys()).toHaveLength(1)
  })

  it('adds a key if another one is given', async () => {
    await using directory = await emptyDirectory()
    const [first, second] = [makeApiKey(), makeApiKey()]

    for (const apiKey of [first, second]) {
      expect(await ensureDemo(directory.url, apiKey)).toEqual({ organizationSlug: 'demo', apiKey })
    }
  })

  it('does not renew a revoked key', async () => {
    await using directory = await emptyDirectory()
    const apiKey = makeApiKey()
    await ensureDemo(directory.url, apiKey)
    const [key] = await directory.store.listKeys()
    await directory.store.revokeKey(key!.keyId)

    expect(await ensureDemo(directory.url, apiKey)).toEqual({ organizationSlug: 'demo' })
  })
})

describe('createDemoLoginCode', () => {
  it.each([
    ['SQLite', emptyDirectory],
    ['MongoDB', emptyMongoDirectory],
  ])('creates a code that signs in as the demo user, unless that is disabled, on %s', async (_, empty) => {
    await using directory = await empty()
    const { store, url } = directory
    expect(await createDemoLoginCode(url)).toBeUndefined()
    await ensureDemo(url, makeApiKey())

    const code = await createDemoLoginCode(url)

    const expireTime = new Date(Date.now() + 60_000)
    const issued = await store.redeemLoginCode(code!, { name: 'Console', expireTime })
    const { userId } = (await store.findUser('demo@example.com'))!
    expect(issued?.apiKey).toMatchObject({ userId })
    await store.disableUser(userId)
    expect(await createDemoLoginCode(url)).toBeUndefined()
  })
})

async function emptyDirectory() {
  const folder = await mkdtempDisposable(join(tmpdir(), 'demo-data-'))
  const url = `sqlite:${join(folder.path, 'directory.db')}`
  const store = await openDirectoryStore(url)
  return {
    url,
    store,
    async [Symbol.asyncDispose]() {
      await store.close()
      await folder.remove()
    },
  }
}

async function emptyMongoDirectory() {
  const mongo = await startMongo()
  await migrateDirectoryStore(mongo.url)
  const store = await openDirectoryStore(mongo.url)
  return {
    url: mongo.url,
    store,
    async [Symbol.asyncDispose]() {
      await store.close()
      await mongo[Symbol.asyncDispose]()
    },
  }
}
