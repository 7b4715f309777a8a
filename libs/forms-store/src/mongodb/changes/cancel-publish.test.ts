import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { logOf } from '../../contract/events/log-of.ts'
import { edited, givenForm, newRevision, publish, refOf, snapshot, time } from '../../contract/given.ts'
import type { StoredForm } from '../../forms-store.ts'
import { newRevisionDocument } from '../convert-documents.ts'
import { MongoFormsStore } from '../forms-store.ts'
import { pruneRevisions } from '../revisions/prune-revisions.ts'
import { startFormsStore } from '../testing.ts'

const { url, store, collections, crashAfter } = await startFormsStore()

/** A form with the revision of a publish that was killed before it became visible. */
const givenKilled = async () => {
  const form = await givenForm(store)
  const commandId = randomUUID()
  // The command, the usage and the revision.
  await crashAfter(3, (crashing) => crashing.publish(refOf(form), commandId, snapshot))
  expect(await collections.revisions.count({ organizationId: form.organizationId })).toBe(1)
  return { form, commandId }
}

const refuse = () => {
  throw new Error('too late')
}

const numbersOf = async (form: StoredForm) => {
  const page = await store.listRevisions({ ...refOf(form), limit: 10, skip: 0 })
  expect(page!.totalSize).toBe(page!.revisions.length)
  return page!.revisions.map(({ revision }) => revision.number)
}

const eventNumbers = async ({ organizationId }: StoredForm) =>
  (await logOf(store, organizationId)).flatMap(({ data }) => data.number ?? [])

describe('a publish that was killed before its last step', () => {
  it('is cancelled by the next publish, and never becomes visible', async () => {
    const { form, commandId } = await givenKilled()

    await publish(store, form)

    expect(await numbersOf(form)).toEqual([2])
    expect(await eventNumbers(form)).toEqual([2])
    expect(await store.findRevisionOfCommand(form.organizationId, commandId)).toBeUndefined()
    const [record] = await Array.fromAsync(store.exportForms(form.organizationId))
    expect(record!.revisions.map(({ number }) => number)).toEqual([2])
  })

  it('takes nothing of the quota once it is cancelled', async () => {
    const { form } = await givenKilled()
    const { organizationId } = form
    const size = Buffer.byteLength(snapshot(form).formJson)
    const before = await store.usage(organizationId)

    await publish(store, form)

    expect(await store.usage(organizationId)).toEqual(before)
    expect(await collections.revisions.sum({ organizationId }, 'bytes')).toEqual({ count: 2, sum: size })
  })

  it('may be repeated after it was cancelled', async () => {
    const { form, commandId } = await givenKilled()
    await publish(store, form)

    expect(await publish(store, form, commandId)).toMatchObject({ commandId, number: 3 })

    expect(await numbersOf(form)).toEqual([3, 2])
  })

  it('stays invisible when the next publish is refused', async () => {
    const { form } = await givenKilled()

    await expect(store.publish(refOf(form), randomUUID(), snapshot, refuse)).rejects.toThrow('too late')
    await store.update(refOf(form), (current) => edited(current, {}))

    expect(await store.get(refOf(form))).toMatchObject({ live: false })
    expect(await numbersOf(form)).toEqual([])
  })

  it('is not finished by a redelivery after its deadline', async () => {
    const { form, commandId } = await givenKilled()

    await expect(store.publish(refOf(form), commandId, snapshot, refuse)).rejects.toThrow('too late')

    expect(await store.get(refOf(form))).toMatchObject({ live: false })
    expect(await store.publish(refOf(form), commandId, snapshot)).toMatchObject({ live: true })
    expect(await numbersOf(form)).toEqual([1])
  })

  it('is cancelled also when the publish that cancels it is killed', async () => {
    const { form } = await givenKilled()
    const key = { organizationId: form.organizationId, _id: form.formId }
    // As after a kill between the two steps.
    await collections.forms.set(key, { cancelledNumber: 1 })
    expect(await numbersOf(form)).toEqual([])

    await publish(store, form)

    expect(await numbersOf(form)).toEqual([2])
  })
})

describe('a number that is cancelled while its revision is removed', () => {
  it('is not free for a late insert', async () => {
    const form = await givenForm(store)
    const { organizationId } = form
    const isForm = { organizationId, _id: form.formId }
    // As after a cancellation whose revision was removed in between, because the form was taken down.
    await collections.forms.set(isForm, { cancelledNumber: 1 })
    const before = await store.usage(organizationId)

    await publish(store, form)

    const document = (await collections.forms.findOne(isForm))!
    const { incarnation } = document
    const late = newRevisionDocument(newRevision(form, { number: 1 }), incarnation)
    expect(await collections.revisions.insert(late)).toBe(false)
    expect(await numbersOf(form)).toEqual([2])
    const size = Buffer.byteLength(snapshot(form).formJson)
    expect(await store.usage(organizationId)).toEqual({ forms: 1, bytes: before.bytes + size })
  })
})

describe('the revision of a cancelled publish', () => {
  it('counts as none, also when the usage is recomputed', async () => {
    const { form } = await givenKilled()
    const { organizationId } = form
    const key = { organizationId, _id: organizationId }
    await publish(store, form)
    expect(await collections.usage.findOne(key)).toMatchObject({ revisions: 1 })

    await collections.usage.set(key, { countTime: 0, dueTime: 0, revisions: 0 })
    await publish(store, form)

    expect(await collections.usage.findOne(key)).toMatchObject({ revisions: 2 })
  })

  it('is neither pruned nor counted as one to keep', async () => {
    const form = await givenForm(store)
    await publish(store, form)
    await crashAfter(3, (crashing) => crashing.publish(refOf(form), randomUUID(), snapshot))
    await publish(store, form)
    const rule = { keep: 2, before: new Date(Date.now() + 60_000) }
    const { organizationId, formId } = form
    await crashAfter(3, (crashing) => crashing.publish(refOf(form), randomUUID(), snapshot))
    await collections.forms.set({ organizationId, _id: formId }, { cancelledNumber: 4 })

    expect(await pruneRevisions(collections, form, rule)).toMatchObject({ revisions: 0 })
    expect(await pruneRevisions(collections, form, { ...rule, keep: 1 })).toMatchObject({ revisions: 1 })

    const left = await Array.fromAsync(collections.revisions.find({ organizationId, formId }))
    expect(left.map(({ number }) => number).sort()).toEqual([2, 3, 4])
  })
})

describe('a publish that is too slow', () => {
  const slowPublish = async (form: StoredForm, beforeStoring?: (attempt: number) => void) => {
    let isCancelled = false
    let attempts = 0
    const beforeWrite = async ({ collection, operation }: { collection: string; operation: string }) => {
      if (collection !== 'forms' || operation !== 'set' || isCancelled) return
      isCancelled = true
      await publish(store, form)
    }
    await using slow = new MongoFormsStore(url, { clears: false }, { beforeWrite })
    const take = (current: StoredForm) => ({ ...newRevision(current), createTime: time(attempts) })
    const commandId = randomUUID()
    const check = () => beforeStoring?.(++attempts)
    return {
      commandId,
      outcome: await slow.publish(refOf(form), commandId, take, check).catch((error) => error),
    }
  }

  it('starts again with the next number', async () => {
    const form = await givenForm(store)

    const { commandId, outcome } = await slowPublish(form)

    expect(outcome).toMatchObject({ live: true })
    expect(await numbersOf(form)).toEqual([3, 2])
    expect(await eventNumbers(form)).toEqual([2, 3])
    expect(await store.getRevision(refOf(form), 'live')).toMatchObject({ revision: { commandId, number: 3 } })
  })

  it('leaves nothing behind if it is too late then', async () => {
    const form = await givenForm(store)
    const other = await givenForm(store, { organizationId: form.organizationId })

    const { commandId, outcome } = await slowPublish(form, (attempt) => attempt > 1 && refuse())

    expect(outcome).toMatchObject({ message: 'too late' })
    expect(await numbersOf(form)).toEqual([2])
    expect(await publish(store, other, commandId)).toMatchObject({ formId: other.formId })
  })
})
