import { randomUUID } from 'node:crypto'
import type { Position } from '@fms/aip'
import { maxLiveKeys } from '@fms/contracts'
import { describe, expect, it } from 'vitest'
import { API_KEY_PATTERN, hashSecret, maxEndedKeys } from '../api-key.ts'
import { type Directory, start } from './given.ts'

/** The contract of the keys of users by the API. */
export const ownKeysContract = ({ store, clock, givenUser }: Directory): void => {
  const works = async (key: string) =>
    (await store().authorize({ keyHash: hashSecret(key) }, new Date(clock.time))) !== undefined

  const totalOf = async (userId: string) =>
    (await store().listOwnKeys({ userId, limit: 1, skip: 0 })).totalSize

  /** Creates keys of a user, as an operator or an earlier release does. Ten at a time: more could wait too long for MongoDB. */
  const givenKeys = async (userId: string, count: number, key: { name?: string; expireTime?: Date } = {}) => {
    const create = (name: string) => store().createKey({ userId, name, ...key })
    const created = []
    for (const names = Array.from({ length: count }, (_, index) => `${index}`); names.length > 0; )
      created.push(...(await Promise.all(names.splice(0, 10).map(create))))
    return created
  }

  /** Sends calls at the same time. @returns how many succeed, and the reasons of the others. */
  const settle = async (calls: Promise<unknown>[]) => {
    const outcomes = await Promise.allSettled(calls)
    const reasons = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason.reason] : []))
    return { succeeded: outcomes.length - reasons.length, reasons: new Set(reasons) }
  }

  describe('createOwnKey', () => {
    it('creates a key that works, and returns its text', async () => {
      const { userId } = await givenUser()
      const fields = { userId, name: 'CI', readOnly: true, expireTime: new Date(start + 1000) }

      const { key, apiKey } = await store().createOwnKey(fields)

      expect(key).toMatch(API_KEY_PATTERN)
      expect(apiKey).toEqual({
        ...fields,
        keyId: expect.any(String),
        prefix: key.slice(4, 12),
        createTime: new Date(start),
      })
      expect(await store().authorize({ keyHash: hashSecret(key) }, new Date(start))).toEqual({ key: apiKey })
      expect(await store().listKeys()).toEqual([apiKey])
    })

    it('stores nothing with validateOnly', async () => {
      const { userId } = await givenUser()

      const { key } = await store().createOwnKey({ userId, name: 'CI' }, { validateOnly: true })

      expect(await works(key)).toBe(false)
      expect(await store().listKeys()).toEqual([])
    })

    it.each([{ validateOnly: false }, { validateOnly: true }])(
      'rejects a requestId that has created a key of the user, with %o',
      async (options) => {
        const [ada, bob] = [await givenUser(), await givenUser()]
        const requestId = randomUUID()
        const { apiKey } = await store().createOwnKey({ userId: ada.userId, requestId })
        await store().revokeOwnKey(ada.userId, apiKey.keyId)

        await expect(
          store().createOwnKey(
            { userId: ada.userId, name: 'x', requestId: requestId.toUpperCase() },
            options,
          ),
        ).rejects.toMatchObject({
          status: 'ALREADY_EXISTS',
          reason: 'KEY_ALREADY_CREATED',
          parts: { metadata: { requestId, key: `keys/${apiKey.keyId}` } },
        })
        expect((await store().createOwnKey({ userId: bob.userId, requestId })).apiKey.keyId).not.toBe(
          apiKey.keyId,
        )
        expect(await store().listKeys()).toHaveLength(2)
      },
    )

    it('creates one key for concurrent calls with the same requestId', async () => {
      const { userId } = await givenUser()
      const requestId = randomUUID()

      const outcome = await settle(
        Array.from({ length: 10 }, () => store().createOwnKey({ userId, requestId })),
      )

      expect(outcome).toEqual({ succeeded: 1, reasons: new Set(['KEY_ALREADY_CREATED']) })
      expect(await totalOf(userId)).toBe(1)
    })

    it('rejects keys over the limit, also with validateOnly, until one ends', async () => {
      const { userId } = await givenUser()
      const keys = await givenKeys(userId, maxLiveKeys)
      const tooMany = {
        status: 'FAILED_PRECONDITION',
        reason: 'TOO_MANY_KEYS',
        parts: { metadata: { limit: '100' } },
      }

      await expect(store().createOwnKey({ userId })).rejects.toMatchObject(tooMany)
      await expect(store().createOwnKey({ userId }, { validateOnly: true })).rejects.toMatchObject(tooMany)
      await store().createOwnKey({ userId: (await givenUser()).userId })

      await store().expireKey(keys[0]!.apiKey.keyId, new Date(start + 1))
      clock.time = start + 1
      await store().createOwnKey({ userId })
      expect(await totalOf(userId)).toBe(maxLiveKeys)
    })

    it('keeps the limit for concurrent calls, and reaches it', async () => {
      const { userId } = await givenUser()
      await givenKeys(userId, maxLiveKeys - 3)

      const outcome = await settle(Array.from({ length: 12 }, () => store().createOwnKey({ userId })))

      expect(outcome).toEqual({ succeeded: 3, reasons: new Set(['TOO_MANY_KEYS']) })
      expect(await totalOf(userId)).toBe(maxLiveKeys)
    })

    it('rejects a name that is too long, and an unknown user', async () => {
      const { userId } = await givenUser()

      await expect(store().createOwnKey({ userId, name: 'x'.repeat(81) })).rejects.toMatchObject({
        parts: { fieldViolations: [{ field: 'name' }] },
      })
      await expect(store().createOwnKey({ userId: randomUUID() })).rejects.toMatchObject({
        reason: 'USER_NOT_FOUND',
      })
    })

    it('keeps a bounded number of ended keys, those that ended last', async () => {
      const { userId } = await givenUser()
      const { userId: other } = await givenUser()
      await store().createKey({ userId: other, expireTime: new Date(start - 1) })
      const requestId = randomUUID()
      const { apiKey: oldest } = await store().createOwnKey({ userId, name: 'oldest', requestId })
      // The newer a key, the earlier it expires.
      for (let created = 0; created < maxEndedKeys + 5; created += 100) {
        clock.time++
        const count = Math.min(100, maxEndedKeys + 5 - created)
        await givenKeys(userId, count, { name: `${created}`, expireTime: new Date(start + 2000 - created) })
      }
      clock.time = start + 3000
      await store().revokeOwnKey(userId, oldest.keyId)

      const { apiKey } = await store().createOwnKey({ userId, name: 'live' })

      const left = await store().listKeys()
      expect(left).toHaveLength(1 + maxEndedKeys + 1)
      const countOf = (name: string) => left.filter((key) => key.name === name).length
      expect(['oldest', '0', '900', '1000'].map(countOf)).toEqual([1, 100, 99, 0])
      expect(left).toContainEqual(apiKey)
      await expect(store().createOwnKey({ userId, requestId })).rejects.toMatchObject({
        reason: 'KEY_ALREADY_CREATED',
      })
    })
  })

  describe('listOwnKeys and getOwnKey', () => {
    it('find live keys of the user alone, newest first', async () => {
      const [{ userId }, stranger] = [await givenUser(), await givenUser()]
      const [old, , revoked] = await givenKeys(userId, 1).then(async (first) => {
        clock.time++
        const expiring = await store().createKey({ userId, expireTime: new Date(start + 5) })
        const third = await store().createKey({ userId })
        return [first[0]!, expiring, third]
      })
      await store().revokeKey(revoked!.apiKey.keyId)
      await givenKeys(stranger.userId, 1)
      clock.time = start + 5
      const { apiKey: young } = await store().createOwnKey({ userId })

      expect(await store().listOwnKeys({ userId, limit: 10, skip: 0 })).toEqual({
        keys: [young, old!.apiKey],
        totalSize: 2,
      })
      for (const { keyId } of [young, old!.apiKey]) {
        expect(await store().getOwnKey(userId, keyId.toUpperCase())).toMatchObject({ keyId })
        expect(await store().getOwnKey(stranger.userId, keyId)).toBeUndefined()
      }
      expect(await store().getOwnKey(userId, revoked!.apiKey.keyId)).toBeUndefined()
      expect(await store().getOwnKey(userId, 'nonsense')).toBeUndefined()
    })

    it('page by position, also among keys of the same time', async () => {
      const { userId } = await givenUser()
      await givenKeys(userId, 7)
      const all = (await store().listOwnKeys({ userId, limit: 10, skip: 0 })).keys.map(({ keyId }) => keyId)

      const seen: string[] = []
      let after: Position | undefined
      do {
        const page = await store().listOwnKeys({ userId, limit: 2, skip: 0, ...(after && { after }) })
        seen.push(...page.keys.map(({ keyId }) => keyId))
        expect(page.totalSize).toBe(7)
        after = page.next
      } while (after)

      expect(seen).toEqual(all)
      expect(all).toEqual([...all].sort().reverse())
      const skipping = await store().listOwnKeys({ userId, limit: 2, skip: 3 })
      expect(skipping.keys.map(({ keyId }) => keyId)).toEqual(all.slice(3, 5))
    })
  })

  describe('rotateOwnKey', () => {
    it('revokes the old key without overlap, and creates one like it', async () => {
      const { userId } = await givenUser()
      const fields = { name: 'CI', readOnly: true, expireTime: new Date(start + 1000) }
      const old = await store().createOwnKey({ userId, ...fields })
      const { keyId } = old.apiKey

      const { key, apiKey } = await store().rotateOwnKey({ userId, keyId, overlapMs: 0 })

      expect(apiKey).toMatchObject({ userId, ...fields })
      expect(apiKey.keyId).not.toBe(keyId)
      expect([await works(old.key), await works(key)]).toEqual([false, true])
    })

    it('keeps the old key for the overlap, and never extends it', async () => {
      const { userId } = await givenUser()
      const [lasting, expiring] = [
        await store().createOwnKey({ userId }),
        await store().createOwnKey({ userId, expireTime: new Date(start + 500) }),
      ]

      for (const { apiKey } of [lasting, expiring]) {
        await store().rotateOwnKey({ userId, keyId: apiKey.keyId, overlapMs: 1000 })
      }

      clock.time = start + 499
      expect([await works(lasting.key), await works(expiring.key)]).toEqual([true, true])
      clock.time = start + 500
      expect([await works(lasting.key), await works(expiring.key)]).toEqual([true, false])
      clock.time = start + 1000
      expect(await works(lasting.key)).toBe(false)
    })

    it('needs room for both keys only with an overlap', async () => {
      const { userId } = await givenUser()
      const [first] = await givenKeys(userId, maxLiveKeys)
      const { keyId } = first!.apiKey

      for (const options of [{}, { validateOnly: true }]) {
        await expect(store().rotateOwnKey({ userId, keyId, overlapMs: 1 }, options)).rejects.toMatchObject({
          reason: 'TOO_MANY_KEYS',
        })
      }
      await store().rotateOwnKey({ userId, keyId, overlapMs: 0 }, { validateOnly: true })
      expect(await works(first!.key)).toBe(true)
      await store().rotateOwnKey({ userId, keyId, overlapMs: 0 })
      expect(await totalOf(userId)).toBe(maxLiveKeys)
    })

    it('creates one key for concurrent calls without overlap', async () => {
      const { userId } = await givenUser()
      const { keyId } = (await store().createOwnKey({ userId })).apiKey
      const rotate = () => store().rotateOwnKey({ userId, keyId, overlapMs: 0 })

      const outcome = await settle(Array.from({ length: 5 }, rotate))

      expect(outcome).toEqual({ succeeded: 1, reasons: new Set(['KEY_NOT_FOUND']) })
      expect(await totalOf(userId)).toBe(1)
    })

    it.each([{ validateOnly: false }, { validateOnly: true }])(
      'rejects a requestId that has created or rotated a key of the user, with %o',
      async (options) => {
        const { userId } = await givenUser()
        const [requestId, ofCreate] = [randomUUID(), randomUUID()]
        const { keyId } = (await store().createOwnKey({ userId, requestId: ofCreate })).apiKey
        const rotation = { userId, keyId, overlapMs: 0, requestId }
        const { apiKey } = await store().rotateOwnKey(rotation)

        const again = store().rotateOwnKey({ ...rotation, requestId: requestId.toUpperCase() }, options)

        await expect(again).rejects.toMatchObject({
          reason: 'KEY_ALREADY_CREATED',
          parts: { metadata: { key: `keys/${apiKey.keyId}` } },
        })
        await expect(
          store().rotateOwnKey({ ...rotation, keyId: apiKey.keyId, requestId: ofCreate }, options),
        ).rejects.toMatchObject({ reason: 'KEY_ALREADY_CREATED' })
        expect(await totalOf(userId)).toBe(1)
      },
    )

    it('creates one key for concurrent calls with the same requestId', async () => {
      const { userId } = await givenUser()
      const { keyId } = (await store().createOwnKey({ userId })).apiKey
      const requestId = randomUUID()
      const rotate = () => store().rotateOwnKey({ userId, keyId, overlapMs: 60_000, requestId })

      const outcome = await settle(Array.from({ length: 5 }, rotate))

      expect(outcome).toEqual({ succeeded: 1, reasons: new Set(['KEY_ALREADY_CREATED']) })
      expect(await totalOf(userId)).toBe(2)
    })

    it('changes nothing where the caller is not allowed to rotate the key', async () => {
      const { userId } = await givenUser()
      const old = await store().createOwnKey({ userId })
      const assertAllowed = () => {
        throw new Error('not allowed')
      }

      const rotation = { userId, keyId: old.apiKey.keyId, overlapMs: 0, assertAllowed }
      await expect(store().rotateOwnKey(rotation)).rejects.toThrow('not allowed')
      expect(await works(old.key)).toBe(true)
    })

    it('finds only live keys of the user', async () => {
      const [{ userId }, stranger] = [await givenUser(), await givenUser()]
      const { keyId } = (await store().createOwnKey({ userId })).apiKey
      const notFound = { reason: 'KEY_NOT_FOUND', parts: { metadata: { key: `keys/${keyId}` } } }

      await expect(
        store().rotateOwnKey({ userId: stranger.userId, keyId, overlapMs: 0 }),
      ).rejects.toMatchObject(notFound)
      await store().revokeOwnKey(userId, keyId)
      await expect(store().rotateOwnKey({ userId, keyId, overlapMs: 0 })).rejects.toMatchObject(notFound)
    })
  })

  describe('revokeOwnKey', () => {
    it('revokes a live key of the user, and no other', async () => {
      const [{ userId }, stranger] = [await givenUser(), await givenUser()]
      const { key, apiKey } = await store().createOwnKey({ userId })
      const { keyId } = apiKey
      const notFound = { reason: 'KEY_NOT_FOUND', parts: { metadata: { key: `keys/${keyId}` } } }

      await expect(store().revokeOwnKey(stranger.userId, keyId)).rejects.toMatchObject(notFound)
      expect(await works(key)).toBe(true)
      await store().revokeOwnKey(userId, keyId)
      expect(await works(key)).toBe(false)
      await expect(store().revokeOwnKey(userId, keyId)).rejects.toMatchObject(notFound)
    })
  })
}
