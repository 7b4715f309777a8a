import { randomUUID } from 'node:crypto'
import { maxLiveKeys } from '@fms/contracts'
import { type BeforeWrite, storeUnavailable } from '@fms/store-kit/mongodb'
import { startMongo } from '@fms/testkit/mongodb'
import { afterAll, describe, expect, it } from 'vitest'
import { migrateDirectoryStore } from '../open-directory-store.ts'
import { MongoDirectoryStore } from './directory-store.ts'

const mongo = await startMongo(process.env, { quick: true })
await migrateDirectoryStore(mongo.url)
const now = () => new Date('2026-11-20T09:30:00.000Z')
const expireTime = new Date(now().getTime() + 900_000)
const session = { name: 'Console', expireTime }
const store = new MongoDirectoryStore(mongo.url, now)
afterAll(async () => {
  await store.close()
  await mongo[Symbol.asyncDispose]()
})

/** A user with keys, and a login code. */
const given = async ({ keys }: { keys: number }) => {
  const { userId } = await store.createUser({ email: `${randomUUID()}@example.com` })
  for (let count = 0; count < keys; count++) await store.createKey({ userId })
  return { userId, code: await store.createLoginCode(userId, expireTime) }
}

/** A store that runs `act` before its first write of a kind. */
const openActing = (collection: string, operation: string, act: () => Promise<unknown>) => {
  let isDone = false
  const beforeWrite: BeforeWrite = async (write) => {
    if (isDone || write.collection !== collection || write.operation !== operation) return
    isDone = true
    await act()
  }
  return new MongoDirectoryStore(mongo.url, now, beforeWrite)
}

describe('a login code', () => {
  it('stays valid when another call creates the last key meanwhile', async () => {
    const { userId, code } = await given({ keys: maxLiveKeys - 1 })
    await using slow = openActing('users', 'set', () => store.createOwnKey({ userId }))

    await expect(slow.redeemLoginCode(code, session)).rejects.toMatchObject({ reason: 'TOO_MANY_KEYS' })

    const [key] = (await store.listOwnKeys({ userId, limit: 1, skip: 0 })).keys
    await store.revokeOwnKey(userId, key!.keyId)
    expect(await store.redeemLoginCode(code, session)).toBeDefined()
  })

  it.each([
    ['there is room for its key', 'users', 'set'],
    ['it is used up', 'loginCodes', 'delete'],
  ])(
    'stays valid, and takes up no room, when the store fails before %s',
    async (_, collection, operation) => {
      const { code } = await given({ keys: maxLiveKeys - 1 })
      await using failing = openActing(collection, operation, async () => {
        throw storeUnavailable(new Error('no primary'))
      })

      await expect(failing.redeemLoginCode(code, session)).rejects.toMatchObject({
        reason: 'STORE_UNAVAILABLE',
      })

      expect(await store.redeemLoginCode(code, session)).toBeDefined()
    },
  )

  it('takes up no room after another call was faster', async () => {
    const { userId, code } = await given({ keys: maxLiveKeys - 2 })
    await using slow = openActing('loginCodes', 'delete', () => store.redeemLoginCode(code, session))

    expect(await slow.redeemLoginCode(code, session)).toBeUndefined()

    expect(await store.createOwnKey({ userId })).toBeDefined()
    expect((await store.listOwnKeys({ userId, limit: 1, skip: 0 })).totalSize).toBe(maxLiveKeys)
  })
})
