import { randomUUID } from 'node:crypto'
import { FormDraft } from '@fms/contracts'
import { draftArbitrary } from '@fms/contracts/arbitrary'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import type { StoredForm } from '../forms-store.ts'
import { parseDraft } from '../stored-draft.ts'
import {
  atOnce,
  edited,
  exported,
  givenForm,
  metadataOf,
  newForm,
  newPublicId,
  type OpenStore,
  openStore,
  publish,
  refOf,
  revisionOf,
  snapshot,
} from './given.ts'
import { type EngineLimits, numberOfRuns } from './hostile-names.ts'

const swapCase = (text: string) =>
  Array.from(text, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  ).join('')

/** Tests of single forms. */
export const draftsContract = (open: OpenStore, limits: EngineLimits): void => {
  const store = openStore(open)
  const unchanged = async (form: StoredForm) => expect(await store().get(refOf(form))).toEqual(form)

  describe('create', () => {
    it('stores a form unchanged', async () => {
      const form = newForm({ replyCount: 7, version: 3 })

      expect(await store().create(form)).toBeDefined()
      await unchanged(form)
    })

    it('stores any draft unchanged', async () => {
      await fc.assert(
        fc.asyncProperty(draftArbitrary, async (draft) => {
          const form = await givenForm(store(), { draft })

          await unchanged(form)
          expect(parseDraft(form)).toEqual(JSON.parse(JSON.stringify(FormDraft.parse(draft))))
        }),
        { numRuns: numberOfRuns(limits, 30, 8) },
      )
    })

    it('rejects a public id that any organization uses, and stores nothing', async () => {
      const form = await givenForm(store())
      const sibling = newForm({ organizationId: form.organizationId, publicId: form.publicId })
      const stranger = newForm({ publicId: form.publicId })

      for (const late of [sibling, stranger]) {
        expect(await store().create(late)).toBeUndefined()
        expect(await store().get(refOf(late))).toBeUndefined()
      }
      const { totalSize } = await store().list({ ...stranger, orderBy: [], limit: 10, skip: 0 })
      expect(totalSize).toBe(0)
      await unchanged(form)
    })

    it('gives a public id to exactly one of ten concurrent creates', async () => {
      const publicId = newPublicId()
      const outcomes = await atOnce(10, () => store().create(newForm({ publicId })))

      expect(outcomes.filter(Boolean)).toHaveLength(1)
    })

    it('treats public ids as case-sensitive', async () => {
      const publicId = `case${newPublicId().slice(4)}`
      await givenForm(store(), { publicId })

      expect(await store().create(newForm({ publicId: swapCase(publicId) }))).toBeDefined()
    })
  })

  describe('get', () => {
    it('finds a form by UUID in any letter case, and by public id', async () => {
      const form = await givenForm(store())
      const { organizationId, formId, publicId } = form

      for (const formRef of [formId, formId.toUpperCase(), publicId]) {
        expect(await store().get({ organizationId, formRef })).toEqual(form)
      }
    })

    it('returns the draft byte for byte as JSON.stringify writes it, after every change', async () => {
      await fc.assert(
        fc.asyncProperty(draftArbitrary, draftArbitrary, async (first, second) => {
          const form = newForm({ draft: first })
          await store().create(form)
          expect(await store().get(refOf(form))).toEqual(form)

          const changed = edited(form, second)
          await store().update(refOf(form), () => changed)
          const text = await store().get({ ...form, formRef: form.publicId })
          expect(text).toEqual(changed)
          expect(text?.draftJson).toBe(JSON.stringify({ ...parseDraft(form), ...second }))
        }),
        { numRuns: numberOfRuns(limits, 20, 6) },
      )
    })

    it.each([
      '',
      'live',
      '__proto__',
      randomUUID(),
      newPublicId(),
      "' OR 1=1 --",
      '{"$ne":null}',
      '$where',
      '%',
      '..........',
      '__________',
      '*',
      '\0',
      '😀',
      '\ud800',
      'a'.repeat(100_000),
    ])('finds nothing by %j', async (formRef) => {
      const { organizationId } = await givenForm(store())

      expect(await store().get({ organizationId, formRef })).toBeUndefined()
    })

    it('finds nothing by an almost equal reference', async () => {
      const { organizationId, formId, publicId } = await givenForm(store(), {
        publicId: `case${newPublicId().slice(4)}`,
      })

      for (const formRef of [
        ` ${formId}`,
        `${publicId}\n`,
        `${publicId}\0`,
        swapCase(publicId),
        formId.replaceAll('-', ''),
      ]) {
        expect(await store().get({ organizationId, formRef })).toBeUndefined()
      }
    })
  })

  describe('update', () => {
    it('stores only the changed draft, and returns the stored form', async () => {
      const form = await givenForm(store())
      const changed = edited(form, { name: 'Other', tone: 'dry' })

      expect(await store().update(refOf(form), () => changed)).toEqual(changed)
      await unchanged(changed)
    })

    it('passes the stored form to the change', async () => {
      const form = await givenForm(store())
      const change = vi.fn((current: StoredForm) => current)

      await store().update({ ...form, formRef: form.publicId }, change)

      expect(change).toHaveBeenLastCalledWith(form)
    })

    it('writes nothing when the change returns its argument', async () => {
      const form = await givenForm(store())
      const scribble = (current: StoredForm) => {
        current.draftJson = '{}'
        return current
      }

      expect(await store().update(refOf(form), (current) => current)).toEqual(form)
      await store().update(refOf(form), scribble)

      await unchanged(form)
    })

    it('rethrows the error of the change, and leaves the form unchanged', async () => {
      const form = await givenForm(store())
      const refusal = new Error('refused')
      const change = (current: StoredForm) => {
        current.draftJson = '{}'
        throw refusal
      }

      await expect(store().update(refOf(form), change)).rejects.toBe(refusal)
      await unchanged(form)
    })

    it('finds no form that does not exist', async () => {
      const change = vi.fn((current: StoredForm) => current)

      expect(await store().update(refOf(newForm()), change)).toBeUndefined()
      expect(change).not.toHaveBeenCalled()
    })

    it('keeps all of 50 concurrent changes', async () => {
      const form = await givenForm(store())
      const fields = Array.from({ length: 50 }, (_, index) => `field${index}`)
      const question = { type: 'text', key: 'q1' }
      const addMember = (field: string) => (current: StoredForm) =>
        edited(current, { steps: [{ ...question, ...parseDraft(current).steps[0], [field]: field }] })

      await Promise.all(fields.map((field) => store().update(refOf(form), addMember(field))))

      const steps = [{ ...question, ...Object.fromEntries(fields.map((field) => [field, field])) }]
      const last = await store().get(refOf(form))
      expect(last).toMatchObject({ version: 51 })
      expect(parseDraft(last!)).toMatchObject({ steps })
      expect(last!.updateTime.getTime()).toBe(form.updateTime.getTime() + 50)
    })

    it('does not let 64 changes of one form delay a change of another form', async () => {
      const [busy, other] = [await givenForm(store()), await givenForm(store())]
      let done = 0
      const change = async (form: StoredForm) => {
        await store().update(refOf(form), (current) => edited(current, {}))
        done++
      }

      const many = atOnce(64, () => change(busy))
      await change(other)
      expect(done).toBeLessThan(30)
      await many

      expect(await store().get(refOf(busy))).toMatchObject({ version: 65 })
    })

    it('repeats a slow change after a concurrent one, and overwrites nothing', async () => {
      const form = await givenForm(store())
      const seen: number[] = []
      const slow = store().update(refOf(form), async (current) => {
        seen.push(current.version)
        // The other reference of the form: the mutex does not serialize the two changes.
        if (seen.length === 1) {
          await store().update({ ...form, formRef: form.publicId }, (other) =>
            edited(other, { name: 'Meanwhile' }),
          )
        }
        return edited(current, { tone: 'dry' })
      })

      expect(await slow).toMatchObject({ version: 3, name: 'Meanwhile' })
      expect(seen).toEqual([1, 2])
      const last = await store().get(refOf(form))
      expect(parseDraft(last!)).toMatchObject({ name: 'Meanwhile', tone: 'dry' })
    })

    it('loses no concurrent reply or publish', async () => {
      const form = await givenForm(store())

      await Promise.all([
        atOnce(20, () => store().update(refOf(form), (current) => edited(current, {}))),
        atOnce(20, () => store().recordReplies({ ...form, replyIds: [randomUUID()] })),
        publish(store(), form),
      ])

      expect(await store().get(refOf(form))).toMatchObject({ version: 21, replyCount: 20, live: true })
    })
  })

  describe('delete', () => {
    const allow = () => {}

    it('removes the form with its revisions, and frees its public id', async () => {
      const form = await givenForm(store())
      const revision = await publish(store(), form)

      expect(await store().delete(refOf(form), allow)).toBe(true)

      expect(await store().get(refOf(form))).toBeUndefined()
      expect(await store().getRevision(refOf(form), revision.revisionId)).toBeUndefined()
      expect(await store().listRevisions({ ...refOf(form), limit: 10, skip: 0 })).toBeUndefined()
      expect(await revisionOf(store(), form.organizationId, revision.commandId)).toBeUndefined()
      expect(await store().delete(refOf(form), allow)).toBe(false)
      expect(await store().create(newForm({ publicId: form.publicId }))).toBeDefined()
    })

    it('leaves nothing to a new form with the same id', async () => {
      const form = await givenForm(store())
      const reply = { ...form, replyIds: [randomUUID()] }
      await publish(store(), form)
      await store().recordReplies(reply)
      await store().delete(refOf(form), allow)

      await store().create(form)

      await unchanged(form)
      expect(await store().listRevisions({ ...refOf(form), limit: 10, skip: 0 })).toEqual({
        revisions: [],
        totalSize: 0,
      })
      expect(await store().recordReplies(reply)).toBe(1)
    })

    it('leaves other forms unchanged', async () => {
      const { organizationId, ...form } = await givenForm(store())
      const other = await givenForm(store(), { organizationId })
      const revision = await publish(store(), other)

      await store().delete({ organizationId, formRef: form.formId }, allow)

      await unchanged({ ...other, live: true })
      expect(await store().getRevision(refOf(other), 'live')).toMatchObject({ revision })
    })

    it('rethrows the error of the check, and leaves everything unchanged', async () => {
      const form = await givenForm(store())
      const revision = await publish(store(), form)
      const refusal = new Error('refused')
      const check = vi.fn(() => {
        throw refusal
      })

      await expect(store().delete(refOf(form), check)).rejects.toBe(refusal)

      expect(check).toHaveBeenLastCalledWith(expect.objectContaining({ ...metadataOf(form), live: true }))
      await unchanged({ ...form, live: true })
      expect(await store().getRevision(refOf(form), 'live')).toMatchObject({ revision })
    })

    it('returns true to exactly one of ten concurrent deletes', async () => {
      const form = await givenForm(store())
      const outcomes = await atOnce(10, () => store().delete(refOf(form), allow))

      expect(outcomes.filter(Boolean)).toHaveLength(1)
    })

    it('finds no form that does not exist', async () => {
      const check = vi.fn()

      expect(await store().delete(refOf(newForm()), check)).toBe(false)
      expect(check).not.toHaveBeenCalled()
    })

    it('leaves no form and no revision after a race with publishes', async () => {
      const form = await givenForm(store())
      const commands = Array.from({ length: 20 }, () => randomUUID())
      const started = (some: string[]) =>
        some.map((commandId) => store().publish(refOf(form), commandId, snapshot))

      await Promise.all([
        ...started(commands.slice(0, 10)),
        store().delete(refOf(form), allow),
        ...started(commands.slice(10)),
      ])

      expect(await exported(store(), form.organizationId)).toEqual([])
    })
  })
}
