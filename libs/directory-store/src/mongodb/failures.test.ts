import { randomUUID } from 'node:crypto'
import { startMongo } from '@fms/testkit/mongodb'
import { openFailpoints } from '@fms/testkit/mongodb/failpoints'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { hashSecret, makeApiKey } from '../api-key.ts'
import type { DirectoryStore } from '../directory-store.ts'
import { migrateDirectoryStore, openDirectoryStore } from '../open-directory-store.ts'

// Engines for tests are slower than MongoDB.
vi.setConfig({ testTimeout: 180_000 })

const mongo = await startMongo()
await migrateDirectoryStore(mongo.url)
const now = () => new Date('2026-11-20T09:30:00.000Z')
const store = await openDirectoryStore(mongo.url, now)
const failpoints = await openFailpoints(mongo)
afterAll(async () => {
  await failpoints?.[Symbol.asyncDispose]()
  await store.close()
  await mongo[Symbol.asyncDispose]()
})

const unavailable = { status: 'UNAVAILABLE', reason: 'STORE_UNAVAILABLE' }

type Repeat = (store: DirectoryStore) => Promise<unknown>

const givenUser = () => store.createUser({ email: `${randomUUID()}@example.com` })
const givenOrganization = () => store.createOrganization({ name: 'Acme', slug: `o-${randomUUID()}` })
const givenKey = async () => {
  const { userId } = await givenUser()
  return store.createKey({ userId, name: 'Test' })
}

/** Changes that were stored: each function makes one, and returns its repeat. */
const repeats: Record<string, () => Promise<Repeat>> = {
  'a user that is disabled': async () => {
    const { userId } = await givenUser()
    await store.disableUser(userId)
    return (each) => each.disableUser(userId)
  },
  'a key that is revoked': async () => {
    const { apiKey } = await givenKey()
    await store.revokeKey(apiKey.keyId)
    return (each) => each.revokeKey(apiKey.keyId)
  },
  'a key that expires at the time': async () => {
    const { apiKey } = await givenKey()
    await store.expireKey(apiKey.keyId, now())
    return (each) => each.expireKey(apiKey.keyId, now())
  },
  'a key that exists': async () => {
    const { userId } = await givenUser()
    const key = makeApiKey()
    const create: Repeat = (each) => each.createKey({ key, userId, name: 'Test' })
    await create(store)
    return create
  },
  'a user that exists': async () => {
    const { email } = await givenUser()
    return (each) => each.createUser({ email })
  },
  'an organization that has the name': async () => {
    const { organizationId } = await givenOrganization()
    return (each) => each.updateOrganization(organizationId, { name: 'Acme' })
  },
  'an organization that is deleted': async () => {
    const { organizationId, slug } = await givenOrganization()
    await store.deleteOrganization(organizationId)
    return (each) => each.deleteOrganization(slug)
  },
  'a member that is removed': async () => {
    const [{ userId }, { organizationId }] = [await givenUser(), await givenOrganization()]
    await store.addMember({ organizationId, userId, role: 'editor' })
    await store.removeMember({ organizationId, userId })
    return (each) => each.removeMember({ organizationId, userId })
  },
  'a record that was imported': async () => {
    const { userId } = await givenUser()
    for await (const record of store.exportRecords()) {
      if (record.kind === 'user' && record.userId === userId) return (each) => each.importRecord(record)
    }
    throw new Error('The user is not exported')
  },
}

describe('a repeat that finds its change stored', () => {
  it.runIf(failpoints).each(Object.entries(repeats))(
    'is UNAVAILABLE while the engine reports that no majority confirms it: %s',
    async (_, given) => {
      const repeat = await given()
      await using isolated = await openDirectoryStore(failpoints!.url, now)
      const failure = {
        failCommands: ['insert', 'commitTransaction'],
        writeConcernError: { code: 100, errmsg: 'Not enough data-bearing nodes' },
      }

      const failed = failpoints!.during(failure, () => repeat(isolated))

      await expect(failed).rejects.toMatchObject(unavailable)
    },
  )
})

/** Changes of several documents: each function prepares one, and returns it. */
const changes: Record<string, () => Promise<Repeat>> = {
  'an organization with members is renamed': async () => {
    const { organizationId } = await givenOrganization()
    for (const { userId } of [await givenUser(), await givenUser()]) {
      await store.addMember({ organizationId, userId, role: 'viewer' })
    }
    return (each) => each.updateOrganization(organizationId, { name: 'Looms' })
  },
  'an organization with members is deleted': async () => {
    const [{ userId }, { organizationId }] = [await givenUser(), await givenOrganization()]
    await store.addMember({ organizationId, userId, role: 'viewer' })
    return (each) => each.deleteOrganization(organizationId)
  },
  'a member joins': async () => {
    const [{ userId }, { organizationId }] = [await givenUser(), await givenOrganization()]
    return (each) => each.addMember({ organizationId, userId, role: 'viewer' })
  },
  'a key is rotated': async () => {
    const { userId, keyId } = (await givenKey()).apiKey
    return (each) => each.rotateOwnKey({ userId, keyId, overlapMs: 0 })
  },
  'a user signs in': async () => {
    const expireTime = new Date(now().getTime() + 1000)
    const code = await store.createLoginCode((await givenUser()).userId, expireTime)
    return async (each) => {
      // The code is still valid.
      expect(await each.redeemLoginCode(code, { name: 'Console', expireTime })).toBeDefined()
    }
  },
}

describe.runIf(failpoints)('a change of several documents', () => {
  it.each(
    Object.entries(changes).flatMap(([title, given]) => [
      { title, given, failed: 'bulkWrite' },
      { title, given, failed: 'commitTransaction' },
    ]),
  )('leaves nothing half done and can be repeated when $failed fails: $title', async ({ given, failed }) => {
    const change = await given()
    await using broken = await openDirectoryStore(failpoints!.url, now)
    const before = await Array.fromAsync(store.exportRecords())

    // The engine does not allow it.
    const refused = failpoints!.during({ failCommands: [failed], errorCode: 13 }, () => change(broken))

    await expect(refused).rejects.toMatchObject(unavailable)
    expect(await Array.fromAsync(store.exportRecords())).toEqual(before)
    await change(broken)
    expect(await Array.fromAsync(store.exportRecords())).not.toEqual(before)
  })
})

describe.runIf(failpoints)('authorize while the engine does not respond', () => {
  it('is UNAVAILABLE before the gateway stops waiting, after 2 s', async () => {
    const { key } = await givenKey()
    const request = { keyHash: hashSecret(key), organizationRef: 'acme' }
    await using slow = await openDirectoryStore(failpoints!.url, now)
    expect(await slow.authorize(request, now())).toBeDefined()
    const failure = { failCommands: ['find'], blockConnection: true, blockTimeMS: 6_000 }

    const [error, ms] = await failpoints!.during(failure, async () => {
      const startedAt = performance.now()
      const error: unknown = await slow.authorize(request, now()).catch((error: unknown) => error)
      return [error, performance.now() - startedAt]
    })

    expect(error).toMatchObject(unavailable)
    // The limit is 1,800 ms. The engine would respond after 6 s.
    expect(ms).toBeLessThan(5_000)
  })
})
