import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import type { FormsStore, StoredForm, StoredRevision } from '../forms-store.ts'
import {
  atOnce,
  edited,
  givenForm,
  newForm,
  newRevision,
  type OpenStore,
  openStore,
  publish,
  refOf,
} from './given.ts'

const allow = () => {}

/** What a store promises of publishes, step by step, and of the revisions that they leave. */
export const revisionsContract = (open: OpenStore): void => {
  const store = openStore(open)

  const givenRevisions = async (form: StoredForm, numbers: number[]) => {
    const revisions = numbers.map((number) => newRevision(form, { number }))
    await Promise.all(revisions.map((revision) => store().insertRevision(revision)))
    return revisions
  }
  const liveNumber = async (form: StoredForm) =>
    (await store().getRevision(refOf(form), 'live'))?.revision.number

  describe('takeRevisionNumber', () => {
    it('gives the form and one number after the other, and changes nothing that can be read', async () => {
      const form = await givenForm(store())

      const first = await store().takeRevisionNumber(refOf(form), allow)
      const second = await store().takeRevisionNumber({ ...form, formRef: form.publicId }, allow)

      expect(first).toEqual({ form, number: expect.any(Number) })
      expect(second).toEqual({ form, number: first!.number + 1 })
      expect(await store().get(refOf(form))).toEqual(form)
    })

    it('takes none when the check refuses, and passes on what it throws', async () => {
      const form = await givenForm(store())
      const refusal = new Error('refused')
      const check = vi.fn(() => {
        throw refusal
      })
      const first = await store().takeRevisionNumber(refOf(form), allow)

      await expect(store().takeRevisionNumber(refOf(form), check)).rejects.toBe(refusal)

      expect(check).toHaveBeenLastCalledWith(form)
      expect(await store().takeRevisionNumber(refOf(form), allow)).toEqual({
        form,
        number: first!.number + 1,
      })
    })

    it('gives the later snapshot the higher number, whatever else happens', async () => {
      const form = await givenForm(store())

      const [taken] = await Promise.all([
        atOnce(30, () => store().takeRevisionNumber(refOf(form), allow)),
        atOnce(30, () => store().update(refOf(form), (current) => edited(current, {}))),
      ])

      const byNumber = taken.map((each) => each!).sort((a, b) => a.number - b.number)
      const versions = byNumber.map(({ form: { version } }) => version)
      expect(new Set(byNumber.map(({ number }) => number)).size).toBe(30)
      expect(versions).toEqual(versions.toSorted((a, b) => a - b))
    })

    it('knows no form that is not there', async () => {
      const check = vi.fn()

      expect(await store().takeRevisionNumber(refOf(newForm()), check)).toBeUndefined()
      expect(check).not.toHaveBeenCalled()
    })
  })

  describe('insertRevision', () => {
    it('stores a revision, which is not live yet', async () => {
      const form = await givenForm(store())
      const revision = newRevision(form)

      expect(await store().insertRevision(revision)).toBe('inserted')

      expect(await store().get(refOf(form))).toEqual(form)
      expect(await store().getRevision(refOf(form), revision.revisionId)).toEqual({
        revision,
        live: false,
        current: form,
      })
      expect(await store().getRevision(refOf(form), 'live')).toBeUndefined()
    })

    it('stores one revision a command, however often and with whatever it comes', async () => {
      const form = await givenForm(store())
      const first = newRevision(form)
      await store().insertRevision(first)
      const again = newRevision(form, { commandId: first.commandId, number: 2 })
      const elsewhere = newRevision(await givenForm(store(), { organizationId: form.organizationId }), {
        commandId: first.commandId,
      })

      for (const repeated of [first, again, elsewhere]) {
        expect(await store().insertRevision(repeated)).toBe('exists')
      }

      expect(await store().findRevisionOfCommand(form.organizationId, first.commandId)).toEqual(first)
      expect(await store().getRevision(refOf(form), again.revisionId)).toBeUndefined()
      expect(await store().listRevisions({ ...refOf(form), limit: 10, skip: 0 })).toMatchObject({
        totalSize: 1,
      })
    })

    it('inserts once when a command comes many times at once', async () => {
      const form = await givenForm(store())
      const commandId = randomUUID()

      const outcomes = await atOnce(10, (index) =>
        store().insertRevision(newRevision(form, { commandId, number: index + 1 })),
      )

      expect(outcomes.toSorted()).toEqual([...Array(9).fill('exists'), 'inserted'])
    })

    it('does not mind the same command of another organization', async () => {
      const commandId = randomUUID()
      const [one, other] = [
        newRevision(await givenForm(store()), { commandId }),
        newRevision(await givenForm(store()), { commandId }),
      ]

      expect(await store().insertRevision(one)).toBe('inserted')
      expect(await store().insertRevision(other)).toBe('inserted')

      expect(await store().findRevisionOfCommand(one.organizationId, commandId)).toEqual(one)
      expect(await store().findRevisionOfCommand(other.organizationId, commandId)).toEqual(other)
    })

    it('tells when the form is gone', async () => {
      const form = await givenForm(store())
      await store().delete(refOf(form), allow)

      expect(await store().insertRevision(newRevision(form))).toBe('gone')
      expect(await store().insertRevision(newRevision(newForm()))).toBe('gone')
    })
  })

  describe('findRevisionOfCommand', () => {
    it('finds nothing for a command that made nothing', async () => {
      const form = await givenForm(store())
      await publish(store(), form)

      expect(await store().findRevisionOfCommand(form.organizationId, randomUUID())).toBeUndefined()
    })
  })

  describe('moveLive', () => {
    it('makes the revision live and the form published, which is no change of the draft', async () => {
      const form = await givenForm(store())
      const [revision] = await givenRevisions(form, [1])

      expect(await store().moveLive(revision!)).toEqual({ ...form, live: true })

      expect(await store().get(refOf(form))).toEqual({ ...form, live: true })
      expect(await store().getRevision(refOf(form), 'live')).toEqual({
        revision,
        live: true,
        current: { ...form, live: true },
      })
    })

    it('only ever moves forward, in whatever order and however often its steps come', async () => {
      const anyArrivals = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 10 })

      await fc.assert(
        fc.asyncProperty(anyArrivals, async (arrivals) => {
          const form = await givenForm(store())
          const revisions = await givenRevisions(form, [1, 2, 3, 4, 5, 6])
          let highest = 0
          for (const number of arrivals) {
            highest = Math.max(highest, number)
            expect(await store().moveLive(revisions[number - 1]!)).toEqual({ ...form, live: true })
            expect(await liveNumber(form)).toBe(highest)
          }
        }),
        { numRuns: 20 },
      )
    })

    it('ends at the highest of many at once', async () => {
      const form = await givenForm(store())
      const revisions = await givenRevisions(form, [3, 9, 1, 8, 2, 10, 4, 7, 5, 6])

      await Promise.all(revisions.map((revision) => store().moveLive(revision)))

      expect(await liveNumber(form)).toBe(10)
    })

    it('tells when the form is gone', async () => {
      const form = await givenForm(store())
      const revision = await publish(store(), form)
      await store().delete(refOf(form), allow)

      expect(await store().moveLive(revision)).toBeUndefined()
    })
  })

  describe('publishes at once', () => {
    it('all leave a revision, and the highest is live', async () => {
      const form = await givenForm(store())

      const revisions = await atOnce(50, () => publish(store(), form))

      const numbers = revisions.map(({ number }) => number).sort((a, b) => b - a)
      const page = await store().listRevisions({ ...refOf(form), limit: 1000, skip: 0 })
      expect(new Set(numbers).size).toBe(50)
      expect(page!.revisions.map(({ revision }) => revision.number)).toEqual(numbers)
      expect(page!.revisions.map(({ live }) => live)).toEqual([true, ...Array(49).fill(false)])
      expect(await store().get(refOf(form))).toEqual({ ...form, live: true })
    })
  })

  describe('listRevisions', () => {
    it('is newest first, and tells which one is live', async () => {
      const form = await givenForm(store())
      const revisions = await givenRevisions(form, [2, 1, 10, 9])
      await store().moveLive(revisions[3]!)

      expect(await store().listRevisions({ ...form, formRef: form.publicId, limit: 10, skip: 0 })).toEqual({
        revisions: [
          { revision: revisions[2], live: false },
          { revision: revisions[3], live: true },
          { revision: revisions[0], live: false },
          { revision: revisions[1], live: false },
        ],
        totalSize: 4,
      })
    })

    const numbersOn = async (query: Parameters<FormsStore['listRevisions']>[0]) => {
      const page = await store().listRevisions(query)
      return { ...page, revisions: page!.revisions.map(({ revision }) => revision.number) }
    }

    it('goes on from page to page, with skips, while newer ones come', async () => {
      const form = await givenForm(store())
      await givenRevisions(form, [1, 2, 3, 4, 5, 6, 7])
      const query = { ...refOf(form), limit: 2 }

      expect(await numbersOn({ ...query, skip: 0 })).toEqual({ revisions: [7, 6], next: 6, totalSize: 7 })
      await givenRevisions(form, [8])
      expect(await numbersOn({ ...query, skip: 1, after: 6 })).toEqual({
        revisions: [4, 3],
        next: 3,
        totalSize: 8,
      })
      expect(await numbersOn({ ...query, skip: 0, after: 3 })).toEqual({ revisions: [2, 1], totalSize: 8 })
      expect(await numbersOn({ ...query, skip: 8 })).toEqual({ revisions: [], totalSize: 8 })
      expect(await numbersOn({ ...query, skip: 2 ** 31 - 1 })).toEqual({ revisions: [], totalSize: 8 })
    })

    it('ends a page early once it holds 16 MiB', async () => {
      const form = await givenForm(store(), { draft: { context: ['漢'.repeat((700 * 1024) / 3)] } })
      for (let number = 1; number <= 26; number++) await givenRevisions(form, [number])
      const query = { ...refOf(form), limit: 1000, skip: 0 }

      const { revisions, next } = await numbersOn(query)
      expect(revisions.length).toBeLessThan(26)
      const rest = await numbersOn({ ...query, after: next! })

      expect([...revisions, ...rest.revisions]).toEqual(Array.from({ length: 26 }, (_, index) => 26 - index))
      expect(rest.next).toBeUndefined()
    })

    it('is empty for a form that was never published, and nothing for one that is not there', async () => {
      const form = await givenForm(store())

      expect(await store().listRevisions({ ...refOf(form), limit: 10, skip: 0 })).toEqual({
        revisions: [],
        totalSize: 0,
      })
      expect(await store().listRevisions({ ...refOf(newForm()), limit: 10, skip: 0 })).toBeUndefined()
    })
  })

  describe('getRevision', () => {
    const givenPublished = async (): Promise<{ form: StoredForm; revision: StoredRevision }> => {
      const form = await givenForm(store())
      return { form, revision: await publish(store(), form) }
    }

    it('finds a revision by UUID in any letter case, and as live, beside the form as it is now', async () => {
      const { form, revision } = await givenPublished()
      const current = await store().update(refOf(form), (draft) => edited(draft, { name: 'Later' }))

      for (const revisionRef of [revision.revisionId, revision.revisionId.toUpperCase(), 'live']) {
        expect(await store().getRevision({ ...form, formRef: form.publicId }, revisionRef)).toEqual({
          revision,
          live: true,
          current,
        })
      }
    })

    it('keeps a revision as it was once another one is live', async () => {
      const { form, revision } = await givenPublished()
      await store().update(refOf(form), (current) => edited(current, { name: 'Later' }))
      await publish(store(), form)

      expect(await store().getRevision(refOf(form), revision.revisionId)).toMatchObject({
        revision,
        live: false,
      })
      expect(await store().getRevision(refOf(form), 'live')).toMatchObject({
        revision: { form: { name: 'Later' } },
      })
    })

    it.each(['', 'Live', 'LIVE', 'latest', '1', '__proto__', '%', '\0', '\ud800', randomUUID()])(
      'finds nothing by %j',
      async (revisionRef) => {
        const { form } = await givenPublished()

        expect(await store().getRevision(refOf(form), revisionRef)).toBeUndefined()
      },
    )

    it("finds nothing by another form's revision, nor of a form that is not there", async () => {
      const { form, revision } = await givenPublished()
      const sibling = await givenForm(store(), { organizationId: form.organizationId })

      expect(await store().getRevision(refOf(sibling), revision.revisionId)).toBeUndefined()
      expect(await store().getRevision(refOf(sibling), 'live')).toBeUndefined()
      expect(await store().getRevision(refOf(newForm()), revision.revisionId)).toBeUndefined()
    })
  })
}
