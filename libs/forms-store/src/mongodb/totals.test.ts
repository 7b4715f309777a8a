import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { givenForm, newForm, refOf } from '../contract/given.ts'
import { operatorContext } from '../events/recorded-event.ts'
import type { FormsStore, StoredForm } from '../forms-store.ts'
import { RequestReplay } from '../requests/identified-request.ts'
import { toFormRecord } from '../stored-form-record.ts'
import { MongoFormsStore } from './forms-store.ts'
import { allow, startFormsStore } from './testing.ts'

const { url, store, collections, crashAfter } = await startFormsStore()

const list = (from: FormsStore, organizationId: string, limit = 1) =>
  from.list({ organizationId, orderBy: [], limit, skip: 0 })

const totalOf = async (from: FormsStore, organizationId: string) =>
  (await list(from, organizationId)).totalSize

const counted = (organizationId: string) => collections.forms.count({ organizationId })

const usageOf = (organizationId: string) => collections.usage.findOne({ organizationId, _id: organizationId })

/** A store that treats every note as stale. */
const later = new MongoFormsStore(url, { clears: false }, { inFlightMs: 0 })
afterAll(() => later.close())

const recordOf = (form: StoredForm) =>
  toFormRecord(form, {
    revisionNumber: 0,
    liveNumber: 0,
    liveRevisionId: null,
    revisions: [],
    replyIds: [],
  })

const changes = {
  create: (process: FormsStore, form: StoredForm) => process.create(form),
  import: (process: FormsStore, form: StoredForm) => process.importForm(recordOf(form)),
  delete: (process: FormsStore, form: StoredForm) => process.delete(refOf(form), allow),
}

describe('the number of all forms', () => {
  it('is read from the usage document, without a count', async () => {
    const { organizationId } = await givenForm(store)
    await collections.usage.set({ organizationId, _id: organizationId }, { forms: 12_345 })

    expect(await totalOf(store, organizationId)).toBe(12_345)
  })

  it('is repaired by the next write once a recount is due', async () => {
    const { organizationId } = await givenForm(store)
    await collections.usage.set(
      { organizationId, _id: organizationId },
      { forms: 12_345, countTime: 0, dueTime: 0 },
    )

    await givenForm(store, { organizationId })

    expect(await totalOf(store, organizationId)).toBe(2)
  })

  it('is counted while the organization has no usage document', async () => {
    const { organizationId } = await givenForm(store)
    await collections.usage.deleteOne({ organizationId, _id: organizationId })

    expect(await totalOf(store, organizationId)).toBe(1)

    await givenForm(store, { organizationId })
    expect(await totalOf(store, organizationId)).toBe(2)
    expect(await usageOf(organizationId)).toMatchObject({ forms: 2 })
  })

  it.each(Object.entries(changes))('is right after a crash at any write of: %s', async (_, change) => {
    const { organizationId } = await givenForm(store)
    for (let writes = 0, crashed = true; crashed; writes++) {
      const form = newForm({ organizationId })
      if (change === changes.delete) await store.create(form)

      crashed = await crashAfter(writes, (process) => change(process, form))

      const truth = await counted(organizationId)
      expect(await totalOf(store, organizationId)).toBe(truth)
      expect(await totalOf(later, organizationId)).toBe(truth)
      expect(await usageOf(organizationId)).toMatchObject({ forms: truth, notes: {} })
      expect(await totalOf(store, organizationId)).toBe(truth)
    }
  })

  it('is right after any sequence of changes by processes that may crash', async () => {
    const step = fc.record({
      kind: fc.constantFrom('create' as const, 'import' as const, 'delete' as const, 'settle' as const),
      form: fc.nat(2),
      writes: fc.nat(9),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 12 }), async (steps) => {
        const organizationId = randomUUID()
        const forms = Array.from({ length: 3 }, () => newForm({ organizationId }))
        for (const { kind, form, writes } of steps) {
          if (kind === 'settle') await totalOf(later, organizationId)
          else
            await crashAfter(writes, (process) => changes[kind](process, forms[form]!).catch(unlessConflict))
          expect(await totalOf(store, organizationId)).toBe(await counted(organizationId))
        }
        expect(await totalOf(later, organizationId)).toBe(await counted(organizationId))
      }),
      { numRuns: Number(process.env.FC_RUNS ?? 8), endOnFailure: true },
    )
  })

  it('is right after concurrent deletes of the same forms', async () => {
    const organizationId = randomUUID()
    await using other = new MongoFormsStore(url, { clears: false })
    for (let round = 0; round < 5; round++) {
      const forms = await Promise.all([1, 2, 3].map(() => givenForm(store, { organizationId })))
      await Promise.all(
        forms.flatMap((form) =>
          [store, other, store, other].map((process) => process.delete(refOf(form), allow)),
        ),
      )
      expect(await totalOf(store, organizationId)).toBe(0)
    }
    expect(await totalOf(later, organizationId)).toBe(0)
    expect((await later.usage(organizationId)).forms).toBe(0)
  })

  it('is recomputed after a create that was too late: its form was created and deleted meanwhile', async () => {
    const { organizationId } = await givenForm(store)
    const context = {
      ...operatorContext,
      request: { requestId: randomUUID(), method: 'create', digest: '' },
    } as const
    let created: StoredForm | undefined
    const meanwhile = async ({ collection }: { collection: string }) => {
      if (collection === 'usage' && !created) {
        created = await store.create(newForm({ organizationId }), context)
        // Removes the note of that create.
        await givenForm(store, { organizationId })
      } else if (collection === 'publicIds' && created) await store.delete(refOf(created), allow)
    }
    await using late = new MongoFormsStore(url, { clears: false }, { beforeWrite: meanwhile })

    await expect(late.create(newForm({ organizationId }), context)).rejects.toBeInstanceOf(RequestReplay)

    await collections.usage.set({ organizationId, _id: organizationId }, { countTime: 0 })
    await givenForm(store, { organizationId })
    expect(await totalOf(store, organizationId)).toBe(await counted(organizationId))
  })

  it('keeps a create that is in flight, and takes it back once when it stores nothing', async () => {
    const { organizationId, publicId } = await givenForm(store)
    const totals: number[] = []
    const look = async ({ collection }: { collection: string }) => {
      if (collection === 'publicIds') totals.push(await totalOf(store, organizationId))
    }
    await using slow = new MongoFormsStore(url, { clears: false }, { beforeWrite: look })

    expect(await slow.create(newForm({ organizationId, publicId }))).toBeUndefined()

    expect(totals).toEqual([1])
    expect(await usageOf(organizationId)).toMatchObject({ forms: 1 })
  })
})

describe('the notes of a usage document', () => {
  const notesOf = async (organizationId: string) => Object.keys((await usageOf(organizationId))?.notes ?? {})

  it('are removed by the next change of the same process', async () => {
    const { organizationId } = await givenForm(store)
    for (let count = 0; count < 5; count++) await givenForm(store, { organizationId })

    expect(await notesOf(organizationId)).toHaveLength(1)
  })

  it('of other processes are removed by a writer after many changes', async () => {
    const organizationId = randomUUID()
    for (let count = 0; count < 3; count++) {
      await using process = new MongoFormsStore(url, { clears: false })
      await givenForm(process, { organizationId })
    }
    expect(await notesOf(organizationId)).toHaveLength(3)
    await collections.usage.set({ organizationId, _id: organizationId }, { checkIn: 0 })

    await givenForm(later, { organizationId })

    expect(await notesOf(organizationId)).toHaveLength(1)
    expect(await totalOf(store, organizationId)).toBe(4)
  })
})

/** Rethrows errors other than the conflict of an import or a create with an existing form. */
const unlessConflict = (error: { reason?: string }) => {
  if (error.reason !== 'FORM_CONFLICT' && error.reason !== 'FORM_ID_TAKEN') throw error
}
