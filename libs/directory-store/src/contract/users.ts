import { describe, expect, it } from 'vitest'
import { type Directory, lowerCaseUuid, start } from './given.ts'

/** What a store promises of users. */
export const usersContract = ({ store, givenUser }: Directory): void => {
  describe('createUser', () => {
    it('gives a user an id and a time, and can find it by id and by e-mail address in any letter case', async () => {
      const user = await store().createUser({ email: 'Ada@Example.com' })

      expect(user).toEqual({
        userId: expect.stringMatching(lowerCaseUuid),
        email: 'ada@example.com',
        createTime: new Date(start),
      })
      expect(await store().findUser(user.userId.toUpperCase())).toEqual(user)
      expect(await store().findUser('ADA@example.com')).toEqual(user)
    })

    it('refuses an e-mail address that is taken, letter case ignored', async () => {
      await givenUser('ada@example.com')

      await expect(givenUser('ADA@example.com')).rejects.toMatchObject({
        status: 'ALREADY_EXISTS',
        reason: 'EMAIL_TAKEN',
        parts: { metadata: { email: 'ada@example.com' } },
      })
    })

    it('lets one of two at once have the e-mail address', async () => {
      const outcomes = await Promise.allSettled([givenUser('a@example.com'), givenUser('a@example.com')])

      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    })

    it.each(['', 'ada', 'ada@', '@example.com', 'a b@example.com'])(
      'refuses the address "%s"',
      async (email) => {
        await expect(givenUser(email)).rejects.toMatchObject({
          status: 'INVALID_ARGUMENT',
          parts: { fieldViolations: [{ field: 'email' }] },
        })
      },
    )
  })
}
