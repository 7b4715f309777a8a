import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { formETag } from '../resource/form-to-json.ts'
import { logOf } from './events/log-of.ts'
import { atOnce, givenForm, newForm, type OpenStore, openStore, refOf } from './given.ts'

/** Tests of replies. */
export const repliesContract = (open: OpenStore): void => {
  const store = openStore(open)

  describe('recordReplies', () => {
    it('counts a reply of many concurrent calls once, and changes nothing else', async () => {
      const form = await givenForm(store())
      const reply = { ...form, replyIds: [randomUUID()] }

      const outcomes = await atOnce(20, () => store().recordReplies(reply))

      expect(outcomes.toSorted()).toEqual([...Array(19).fill(0), 1])
      expect(await store().recordReplies(reply)).toBe(0)
      expect(await store().get(refOf(form))).toEqual({ ...form, replyCount: 1 })
    })

    it('counts each of many concurrent replies', async () => {
      const form = await givenForm(store())

      const outcomes = await atOnce(20, () => store().recordReplies({ ...form, replyIds: [randomUUID()] }))

      expect(outcomes).toEqual(Array(20).fill(1))
      expect(await store().get(refOf(form))).toEqual({ ...form, replyCount: 20 })
    })

    it('counts a reply id once per form', async () => {
      const [one, other, replyIds] = [await givenForm(store()), await givenForm(store()), [randomUUID()]]

      expect(await store().recordReplies({ ...one, replyIds })).toBe(1)
      expect(await store().recordReplies({ ...other, replyIds })).toBe(1)
    })

    it('counts only new replies of a call: duplicates in it, earlier ones and concurrent ones excluded', async () => {
      const form = await givenForm(store())
      const ids = Array.from({ length: 250 }, () => randomUUID())
      const [first, ...rest] = [ids.slice(0, 100), ids.slice(50, 150), ids.slice(100, 200), ids.slice(150)]

      expect(await store().recordReplies({ ...form, replyIds: [...first!, ...first!.slice(0, 9)] })).toBe(100)
      const counted = await Promise.all(
        [...rest, ...rest].map((replyIds) => store().recordReplies({ ...form, replyIds })),
      )

      expect(counted.reduce((sum, count) => sum + count)).toBe(150)
      expect(await store().get(refOf(form))).toEqual({ ...form, replyCount: 250 })
      expect(await store().recordReplies({ ...form, replyIds: ids.slice(0, 100) })).toBe(0)
    })

    it('counts as many replies of a form as the event of its removal says', async () => {
      const form = await givenForm(store())
      let counting: Promise<number> | undefined

      // By its public id: changes by one reference wait for each other.
      await store().delete({ ...form, formRef: form.publicId }, () => {
        counting ??= store().recordReplies({ ...form, replyIds: [randomUUID()] })
      })

      const replyCount = await counting!
      const removal = (await logOf(store(), form.organizationId)).at(-1)!
      expect(removal.data).toMatchObject({ previousEtag: formETag({ ...form, replyCount }) })
    })

    it('counts nothing for a form that does not exist', async () => {
      const form = newForm()
      const reply = { ...form, replyIds: [randomUUID()] }

      expect(await store().recordReplies(reply)).toBe(0)
      await store().create(form)
      expect(await store().recordReplies(reply)).toBe(1)
    })
  })
}
