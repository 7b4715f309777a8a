import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { API_KEY_PATTERN, hashSecret, makeApiKey } from '../api-key.ts'
import { type Directory, lowerCaseUuid, start } from './given.ts'

/** The contract of API keys. */
export const keysContract = ({ store, clock, givenUser }: Directory): void => {
  describe('createKey', () => {
    it('returns the text of a new key and does not store it', async () => {
      const { userId } = await givenUser()

      const { key, apiKey } = await store().createKey({ userId })

      expect(key).toMatch(API_KEY_PATTERN)
      expect(apiKey).toEqual({
        keyId: expect.stringMatching(lowerCaseUuid),
        prefix: key.slice(4, 12),
        userId,
        name: '',
        readOnly: false,
        createTime: new Date(start),
      })
      expect(JSON.stringify(await store().listKeys())).not.toContain(key)
    })

    it('stores the name, expireTime and readOnly', async () => {
      const { userId } = await givenUser()
      const fields = { userId, name: 'CI', readOnly: true, expireTime: new Date(start + 1) }

      expect((await store().createKey(fields)).apiKey).toMatchObject(fields)
      expect(await store().listKeys()).toMatchObject([fields])
    })

    it('takes a given text once', async () => {
      const { userId } = await givenUser()
      const key = makeApiKey()
      const { apiKey } = await store().createKey({ userId, key })

      expect(await store().authorize({ keyHash: hashSecret(key) }, new Date(start))).toEqual({ key: apiKey })
      await expect(store().createKey({ userId, key })).rejects.toMatchObject({
        status: 'ALREADY_EXISTS',
        reason: 'API_KEY_EXISTS',
        parts: { metadata: { keyId: apiKey.keyId } },
      })
    })

    it('rejects a text in another format, and an unknown user', async () => {
      const { userId } = await givenUser()

      await expect(store().createKey({ userId, key: 'secret' })).rejects.toMatchObject({
        parts: { fieldViolations: [{ field: 'key' }] },
      })
      await expect(store().createKey({ userId: randomUUID() })).rejects.toMatchObject({
        reason: 'USER_NOT_FOUND',
      })
    })
  })

  describe('listKeys', () => {
    it('lists all keys, oldest first', async () => {
      const { userId } = await givenUser()
      const names = ['c', 'a', 'b']
      for (const name of names) {
        await store().createKey({ userId, name })
        clock.time++
      }

      expect((await store().listKeys()).map((key) => key.name)).toEqual(names)
    })
  })

  describe('revokeKey', () => {
    it('makes a key invalid, and changes nothing when repeated', async () => {
      const { userId } = await givenUser()
      const { key, apiKey } = await store().createKey({ userId })
      clock.time += 1000
      const revoked = { ...apiKey, revokeTime: new Date(start + 1000) }

      expect(await store().revokeKey(apiKey.keyId.toUpperCase())).toEqual(revoked)
      clock.time += 1000
      expect(await store().revokeKey(apiKey.keyId)).toEqual(revoked)

      expect(await store().listKeys()).toEqual([revoked])
      expect(await store().authorize({ keyHash: hashSecret(key) }, new Date(0))).toBeUndefined()
    })

    it.each([randomUUID(), 'nonsense', ''])('finds no key "%s"', async (keyId) => {
      await expect(store().revokeKey(keyId)).rejects.toMatchObject({
        status: 'NOT_FOUND',
        reason: 'API_KEY_NOT_FOUND',
        parts: { metadata: { keyId } },
      })
    })
  })

  describe('expireKey', () => {
    const inAnHour = new Date(start + 3_600_000)

    it('keeps a key valid until the given time', async () => {
      const { userId } = await givenUser()
      const { key, apiKey } = await store().createKey({ userId, name: 'CI', readOnly: true })

      const expiring = { ...apiKey, expireTime: inAnHour }
      expect(await store().expireKey(apiKey.keyId.toUpperCase(), inAnHour)).toEqual(expiring)

      expect(await store().listKeys()).toEqual([expiring])
      const authorize = (time: number) => store().authorize({ keyHash: hashSecret(key) }, new Date(time))
      expect(await authorize(inAnHour.getTime() - 1)).toBeDefined()
      expect(await authorize(inAnHour.getTime())).toBeUndefined()
    })

    it('moves an expireTime forward and never back', async () => {
      const { userId } = await givenUser()
      const { keyId } = (await store().createKey({ userId, expireTime: inAnHour })).apiKey

      const later = await store().expireKey(keyId, new Date(inAnHour.getTime() + 1))
      const earlier = await store().expireKey(keyId, new Date(inAnHour.getTime() - 1))

      expect(later.expireTime).toEqual(inAnHour)
      expect(earlier.expireTime).toEqual(new Date(inAnHour.getTime() - 1))
    })

    it('does not change a revoked key', async () => {
      const { userId } = await givenUser()
      const { keyId } = (await store().createKey({ userId })).apiKey
      const revoked = await store().revokeKey(keyId)

      expect(await store().expireKey(keyId, inAnHour)).toEqual(revoked)
    })

    it.each([randomUUID(), 'nonsense', ''])('finds no key "%s"', async (keyId) => {
      await expect(store().expireKey(keyId, inAnHour)).rejects.toMatchObject({
        reason: 'API_KEY_NOT_FOUND',
        parts: { metadata: { keyId } },
      })
    })
  })

  describe('updateKey', () => {
    const inAnHour = new Date(start + 3_600_000)

    it('changes the given fields and no others', async () => {
      const { userId } = await givenUser()
      const { key, apiKey } = await store().createKey({ userId, name: 'CI' })
      const { keyId } = apiKey

      const renamed = { ...apiKey, name: 'nightly' }
      expect(await store().updateKey(keyId.toUpperCase(), { name: 'nightly' })).toEqual(renamed)
      const changed = { ...renamed, readOnly: true, expireTime: inAnHour }
      expect(await store().updateKey(keyId, { readOnly: true, expireTime: inAnHour })).toEqual(changed)

      expect(await store().listKeys()).toEqual([changed])
      const authorization = await store().authorize({ keyHash: hashSecret(key) }, new Date(start))
      expect(authorization).toEqual({ key: changed })
    })

    it('sets an expireTime earlier or later', async () => {
      const { userId } = await givenUser()
      const { keyId } = (await store().createKey({ userId, expireTime: inAnHour })).apiKey

      for (const ms of [1, -1]) {
        const expireTime = new Date(inAnHour.getTime() + ms)
        expect(await store().updateKey(keyId, { expireTime })).toMatchObject({ expireTime })
      }
    })

    it('rejects a revoked or expired key and does not change it', async () => {
      const { userId } = await givenUser()
      const { apiKey: expired } = await store().createKey({ userId, expireTime: new Date(start) })
      const { keyId } = (await store().createKey({ userId })).apiKey
      const revoked = await store().revokeKey(keyId)

      for (const ended of [expired, revoked]) {
        await expect(
          store().updateKey(ended.keyId, { name: 'x', expireTime: inAnHour }),
        ).rejects.toMatchObject({ reason: 'API_KEY_ENDED', parts: { metadata: { keyId: ended.keyId } } })
      }
      expect(await store().listKeys()).toEqual(expect.arrayContaining([expired, revoked]))
    })

    it('rejects a name that is too long', async () => {
      const { userId } = await givenUser()
      const { keyId } = (await store().createKey({ userId })).apiKey

      await expect(store().updateKey(keyId, { name: 'x'.repeat(81) })).rejects.toMatchObject({
        parts: { fieldViolations: [{ field: 'name' }] },
      })
    })

    it.each([randomUUID(), 'nonsense', ''])('finds no key "%s"', async (keyId) => {
      await expect(store().updateKey(keyId, { name: 'x' })).rejects.toMatchObject({
        reason: 'API_KEY_NOT_FOUND',
        parts: { metadata: { keyId } },
      })
    })
  })

  describe('touchKey', () => {
    it('sets the lastUsedTime and never moves it back', async () => {
      const { userId } = await givenUser()
      const { keyId } = (await store().createKey({ userId })).apiKey

      await store().touchKey(keyId, new Date(start + 2000))
      await store().touchKey(keyId, new Date(start + 1000))

      expect(await store().listKeys()).toMatchObject([{ lastUsedTime: new Date(start + 2000) }])
    })

    it('ignores an unknown key', async () => {
      await store().touchKey(randomUUID(), new Date(start))
    })
  })
}
