import { maxLiveKeys } from '@fms/contracts'
import { describe, expect, it } from 'vitest'
import { hashSecret } from '../api-key.ts'
import { type Directory, start } from './given.ts'

/** The contract of login codes. */
export const loginCodesContract = ({ store, clock, givenUser }: Directory): void => {
  const expireTime = new Date(start + 900_000)
  const session = { name: 'Console', expireTime: new Date(start + 12 * 3_600_000) }

  describe('login codes', () => {
    it('are worth one key of their user', async () => {
      const { userId, email } = await givenUser()
      const code = await store().createLoginCode(email.toUpperCase(), expireTime)

      const issued = await store().redeemLoginCode(code, session)

      expect(issued!.apiKey).toMatchObject({ ...session, userId, readOnly: false })
      expect(await store().authorize({ keyHash: hashSecret(issued!.key) }, new Date(start))).toEqual({
        key: issued!.apiKey,
      })
      expect(await store().redeemLoginCode(code, session)).toBeUndefined()
      expect(await store().listKeys()).toHaveLength(1)
    })

    it('name their user with validateOnly, and stay valid', async () => {
      const { userId, email } = await givenUser()
      const code = await store().createLoginCode(userId, expireTime)

      const dryRun = await store().redeemLoginCode(code, session, { validateOnly: true })

      expect(dryRun!.user).toMatchObject({ userId, email })
      expect(await store().listKeys()).toEqual([])
      expect((await store().redeemLoginCode(code, session))!.user).toEqual(dryRun!.user)
      expect(await store().redeemLoginCode(code, session, { validateOnly: true })).toBeUndefined()
    })

    it('work once, however many calls there are at the same time', async () => {
      const code = await store().createLoginCode((await givenUser()).userId, expireTime)

      const issued = await Promise.all(
        Array.from({ length: 20 }, () => store().redeemLoginCode(code, session)),
      )

      expect(issued.filter((each) => each !== undefined)).toHaveLength(1)
      expect(await store().listKeys()).toHaveLength(1)
    })

    it('do not work from their expireTime on', async () => {
      const { userId } = await givenUser()
      const [code, late] = [
        await store().createLoginCode(userId, expireTime),
        await store().createLoginCode(userId, expireTime),
      ]

      clock.time = expireTime.getTime() - 1
      expect(await store().redeemLoginCode(code, session)).toBeDefined()
      clock.time++
      expect(await store().redeemLoginCode(late, session)).toBeUndefined()
    })

    it.each(['', 'nonsense', '\0', 'x'.repeat(43)])('do not include %j', async (code) => {
      await store().createLoginCode((await givenUser()).userId, expireTime)

      expect(await store().redeemLoginCode(code, session)).toBeUndefined()
      expect(await store().listKeys()).toEqual([])
    })

    it('do not work while their user is disabled, and cannot be created for a disabled user', async () => {
      const { userId, email } = await givenUser()
      const code = await store().createLoginCode(userId, expireTime)
      await store().disableUser(userId)

      expect(await store().redeemLoginCode(code, session)).toBeUndefined()
      await expect(store().createLoginCode(userId, expireTime)).rejects.toMatchObject({
        reason: 'USER_DISABLED',
        parts: { metadata: { user: email } },
      })
      await expect(store().createLoginCode('nobody@example.com', expireTime)).rejects.toMatchObject({
        reason: 'USER_NOT_FOUND',
      })
    })

    it('stay valid when the user has too many keys', async () => {
      const { userId } = await givenUser()
      const code = await store().createLoginCode(userId, expireTime)
      const keys = await Promise.all(Array.from({ length: maxLiveKeys }, () => store().createKey({ userId })))

      await expect(store().redeemLoginCode(code, session)).rejects.toMatchObject({ reason: 'TOO_MANY_KEYS' })
      await store().revokeKey(keys[0]!.apiKey.keyId)

      expect(await store().redeemLoginCode(code, session)).toBeDefined()
    })

    it('keep to the number of keys with creates at the same time, and stay valid after it', async () => {
      const { userId } = await givenUser()
      const keys = await Promise.all(
        Array.from({ length: maxLiveKeys - 1 }, () => store().createKey({ userId })),
      )
      const codes = await Promise.all(
        Array.from({ length: 4 }, () => store().createLoginCode(userId, expireTime)),
      )

      const outcomes = await Promise.allSettled(
        codes.flatMap((code) => [store().redeemLoginCode(code, session), store().createOwnKey({ userId })]),
      )

      const isDone = outcomes.map(({ status }) => status === 'fulfilled')
      expect(isDone.filter(Boolean)).toHaveLength(1)
      const unused = codes.filter((_, index) => !isDone[2 * index])
      for (const [index, code] of unused.entries()) {
        await store().revokeKey(keys[index]!.apiKey.keyId)
        expect(await store().redeemLoginCode(code, session)).toBeDefined()
      }
    })
  })
}
