import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { atOnce, create, givenForm, newForm, type OpenStore, openStore, refOf } from './given.ts'

/** What a store promises of replies. */
export const repliesContract = (open: OpenStore): void => {
  const store = openStore(open)

  describe('recordReply', () => {
    it('counts a reply once, however often and at once it is told, and changes nothing else', async () => {
      const form = await givenForm(store())
      const reply = { ...form, replyId: randomUUID() }

      const outcomes = await atOnce(20, () => store().recordReply(reply))

      expect(outcomes.filter(Boolean)).toHaveLength(1)
      expect(await store().recordReply(reply)).toBe(false)
      expect(await store().get(refOf(form))).toEqual({ ...form, replyCount: 1 })
    })

    it('counts different replies at once, each', async () => {
      const form = await givenForm(store())

      const outcomes = await atOnce(20, () => store().recordReply({ ...form, replyId: randomUUID() }))

      expect(outcomes).toEqual(Array(20).fill(true))
      expect(await store().get(refOf(form))).toEqual({ ...form, replyCount: 20 })
    })

    it('counts for each form by itself', async () => {
      const [one, other, replyId] = [await givenForm(store()), await givenForm(store()), randomUUID()]

      expect(await store().recordReply({ ...one, replyId })).toBe(true)
      expect(await store().recordReply({ ...other, replyId })).toBe(true)
    })

    it('counts nothing for a form that is not there', async () => {
      const form = newForm()
      const reply = { ...form, replyId: randomUUID() }

      expect(await store().recordReply(reply)).toBe(false)
      await create(store(), form)
      expect(await store().recordReply(reply)).toBe(true)
    })
  })
}
