import { describe, expect, it, vi } from 'vitest'
import { givenForm, newForm, newRevision, publish, refOf, snapshot } from '../../contract/given.ts'
import type { FormsStore, StoredForm, StoredRevision } from '../../forms-store.ts'
import { toFormRecord } from '../../stored-form-record.ts'
import { interceptRequests } from '../changes/testing/intercept-requests.ts'
import { MongoFormsStore } from '../forms-store.ts'
import { startFormsStore } from '../testing.ts'
import { findRevision } from './find-revision.ts'
import { MongoRevisionGrowth } from './mongo-revision-growth.ts'

const { url, store, collections, crashAfter } = await startFormsStore({ quick: true })

const rule = { keep: 2, before: new Date() }

const givenHistory = async (count: number): Promise<{ form: StoredForm; revisions: StoredRevision[] }> => {
  const form = newForm({ live: true })
  const revisions = Array.from({ length: count }, (_, index) =>
    newRevision(form, { number: index + 1, createTime: new Date(index) }),
  )
  const { revisionId: liveRevisionId } = revisions.at(-1)!
  const history = { revisionNumber: count, liveNumber: count, liveRevisionId, revisions, replyIds: [] }
  await store.importForm(toFormRecord(form, history))
  return { form, revisions }
}

const pruneAll = async (process: FormsStore, form: StoredForm) => {
  while ((await process.revisionGrowth.prune(form, rule)).revisions > 0);
}

const numbersOf = async ({ organizationId, formId }: StoredForm) => {
  const found = await Array.fromAsync(collections.revisions.find({ organizationId, formId }))
  return found.map(({ number }) => number).sort((a, b) => a - b)
}

/** Makes the next growth of the organization recompute its usage. */
const makeRecountDue = ({ organizationId }: StoredForm) =>
  collections.usage.set({ organizationId, _id: organizationId }, { countTime: 0, dueTime: 0 })

describe('a crash between two writes of a prune', () => {
  it('leaves a consistent form, and a repeat deletes the rest', async () => {
    for (let writes = 0, crashed = true; crashed; writes++) {
      const { form, revisions } = await givenHistory(7)
      const { organizationId } = form

      crashed = await crashAfter(writes, (process) => pruneAll(process, form))
      // The revisions, the usage and the commands.
      expect(crashed).toBe(writes < 3)

      const left = await numbersOf(form)
      expect(left).toHaveLength(writes === 0 ? 7 : 2)
      const [record] = await Array.fromAsync(store.exportForms(organizationId))
      expect(record!.revisions.map(({ number }) => number)).toEqual(left)
      expect((await store.getRevision(refOf(form), 'live'))?.revision).toEqual(revisions.at(-1))
      await pruneAll(store, form)
      expect(await numbersOf(form)).toEqual([6, 7])

      await makeRecountDue(form)
      const published = await publish(store, form)
      const bytes = [...revisions.slice(-2), published].reduce(
        (sum, { formJson }) => sum + Buffer.byteLength(formJson),
        Buffer.byteLength(form.draftJson),
      )
      expect(await store.usage(organizationId)).toEqual({ forms: 1, bytes })
      // A crash before the last write leaves the commands of the batch reserved.
      const isLost = writes === 1 || writes === 2
      expect(await collections.commands.count({ organizationId })).toBe(isLost ? 8 : 3)
    }
  })

  it('keeps the usage at least as high as the truth', async () => {
    const { form } = await givenHistory(5)
    const { organizationId } = form
    const before = await store.usage(organizationId)

    expect(await crashAfter(1, (process) => pruneAll(process, form))).toBe(true)

    expect(await numbersOf(form)).toEqual([4, 5])
    expect(await store.usage(organizationId)).toEqual(before)
  })
})

describe('prune', () => {
  it('does not count bytes twice that two processes free', async () => {
    const { form, revisions } = await givenHistory(5)
    const { organizationId } = form
    const before = await store.usage(organizationId)
    let isFirst = true
    const pruneMeanwhile = async ({ operation }: { operation: string }) => {
      if (operation !== 'delete' || !isFirst) return
      isFirst = false
      await pruneAll(store, form)
    }
    await using slow = new MongoFormsStore(url, { clears: false }, { beforeWrite: pruneMeanwhile })

    await pruneAll(slow, form)

    expect(await numbersOf(form)).toEqual([4, 5])
    const freed = revisions.slice(0, 3).reduce((sum, { formJson }) => sum + Buffer.byteLength(formJson), 0)
    expect((await store.usage(organizationId)).bytes).toBe(before.bytes - freed)
  })

  it('leaves live readable for a reader that has read the form before', async () => {
    const { form } = await givenHistory(1)
    let isFirst = true
    const publishAndPrune = async <R>(request: () => Promise<R>): Promise<R> => {
      const response = await request()
      if (isFirst) {
        isFirst = false
        await publish(store, form)
        await store.revisionGrowth.prune(form, { ...rule, keep: 1 })
      }
      return response
    }

    const found = await findRevision(interceptRequests(collections, publishAndPrune), refOf(form), 'live')

    expect(found).toMatchObject({ revision: { number: 2 }, state: { live: true } })
    expect(await numbersOf(form)).toEqual([2])
  })

  it('keeps the command reserved of a publish that is repeated meanwhile', async () => {
    const { form, revisions } = await givenHistory(4)
    const { organizationId } = form
    const { commandId } = revisions[0]!
    let repeated: unknown
    const repeatMeanwhile = async ({ collection, operation }: { collection: string; operation: string }) => {
      if (collection !== 'commands' || operation !== 'delete' || repeated) return
      repeated = await publish(store, form, commandId)
    }
    await using slow = new MongoFormsStore(url, { clears: false }, { beforeWrite: repeatMeanwhile })

    await slow.revisionGrowth.prune(form, rule)

    expect(repeated).toMatchObject({ number: 5 })
    const other = await givenForm(store, { organizationId })
    expect(await store.publish(refOf(other), commandId, snapshot)).toBe('elsewhere')
    expect(await store.publish(refOf(other), revisions[1]!.commandId, snapshot)).toMatchObject({ live: true })
  })
})

describe('formsWithMany', () => {
  it('counts the revisions of forms that were published more than 10,000 times', async () => {
    const numbers = [10_000, 10_001, 30_000, 20_000]
    const forms = await Promise.all(numbers.map(async () => (await givenHistory(1)).form))
    const counts = new Map(
      forms.map(({ formId }, index) => [formId, [10_000, 10_001, 10_000, 11_000][index]!]),
    )
    for (const [index, { organizationId, formId }] of forms.entries()) {
      await collections.forms.set({ organizationId, _id: formId }, { revisionNumber: numbers[index]! })
    }
    // Some engines take long for ten thousand revisions.
    const count = vi.spyOn(collections.revisions, 'count')
    count.mockImplementation(async ({ formId }) => counts.get(formId)!)
    const growth = new MongoRevisionGrowth(collections)
    const pathOf = ({ organizationId, formId, publicId }: StoredForm) => ({
      organizationId,
      formId,
      publicId,
    })

    expect(await growth.formsWithMany(5)).toEqual([
      { ...pathOf(forms[3]!), revisions: 11_000 },
      { ...pathOf(forms[1]!), revisions: 10_001 },
    ])
    expect(count.mock.calls.map(([{ formId }]) => formId)).not.toContain(forms[0]!.formId)
    expect(await growth.formsWithMany(1)).toHaveLength(1)
  })
})
