import { describe, expect, it } from 'vitest'
import type { Directory } from './given.ts'

/** The contract of a closed store. */
export const closedContract = ({ store, givenUser }: Directory): void => {
  describe('a closed store', () => {
    it('throws UNAVAILABLE', async () => {
      await store().close()

      await expect(store().ping()).rejects.toMatchObject({ status: 'UNAVAILABLE' })
      await expect(store().findUser('ada@example.com')).rejects.toMatchObject({ status: 'UNAVAILABLE' })
      await expect(givenUser()).rejects.toMatchObject({ status: 'UNAVAILABLE' })
    })
  })
}
