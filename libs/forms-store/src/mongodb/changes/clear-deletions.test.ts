import { randomUUID } from 'node:crypto'
import { type BeforeWrite, MongoDatabase } from '@fms/store-kit/mongodb'
import { describe, expect, it } from 'vitest'
import { givenForm, publish, refOf, snapshot } from '../../contract/given.ts'
import type { StoredForm } from '../../forms-store.ts'
import { type DeletionDocument, formsCollections } from '../documents.ts'
import { findForm } from '../find-form.ts'
import { MongoFormsStore } from '../forms-store.ts'
import { allow, startFormsStore } from '../testing.ts'
import { addUsage } from '../usage.ts'
import { clearDeletions } from './clear-deletions.ts'

const { store, collections, url, crashAfter } = await startFormsStore({ quick: true })

const { signal } = new AbortController()
const minuteMs = 60_000

/** A note as release 0.1.0 stores it for a delete, which was killed before it deleted the form. */
const givenNote = async (form: StoredForm, ageMs: number): Promise<void> => {
  const { organizationId, formId, publicId } = form
  const { incarnation } = (await findForm(collections, refOf(form)))!
  const beginTime = Date.now() - ageMs
  await collections.deletions.insert({
    _id: randomUUID(),
    ...{ organizationId, formId, incarnation, publicId, beginTime },
    clearTime: beginTime,
    isCleared: false,
  })
}

const notesOf = ({ organizationId }: StoredForm): Promise<DeletionDocument[]> =>
  Array.fromAsync(collections.deletions.find({ organizationId }))

describe('clearing while the form of a note exists', () => {
  it('removes the note of a delete by release 0.1.0 that was killed long ago, and nothing else', async () => {
    const form = await givenForm(store)
    await publish(store, form)
    const before = await store.get(refOf(form))
    await givenNote(form, 90 * minuteMs)

    await clearDeletions(collections, signal)

    expect(await notesOf(form)).toEqual([])
    expect(await store.get(refOf(form))).toEqual(before)
    expect(await collections.revisions.count({ organizationId: form.organizationId })).toBe(1)
    expect(await collections.publicIds.has({ _id: form.publicId })).toBe(true)
  })

  it('keeps a note whose attempt may be in progress', async () => {
    const form = await givenForm(store)
    await givenNote(form, minuteMs)

    await clearDeletions(collections, signal)

    expect(await notesOf(form)).toHaveLength(1)
  })
})

describe('clearing the revisions of a deleted form', () => {
  it('leaves the usage exact when the last publish removes its revision at the same time', async () => {
    const form = await givenForm(store)
    await using deleting = new MongoFormsStore(url, { clears: false })
    for (let count = 0; count < 3; count++) await publish(deleting, form)
    await deleting.delete(refOf(form), allow)
    const { organizationId } = form
    const [last] = await Array.fromAsync(collections.revisions.find({ organizationId, number: 3 }))
    let isFirst = true
    const removeMeanwhile: BeforeWrite = async ({ collection }) => {
      if (collection !== 'revisions' || !isFirst) return
      isFirst = false
      await collections.revisions.deleteOne(last!)
      await addUsage(collections, organizationId, { forms: 0, bytes: -last!.bytes, revisions: -1 })
    }
    await using database = new MongoDatabase(url, removeMeanwhile)

    await clearDeletions(formsCollections(database), signal)

    expect(isFirst).toBe(false)
    expect(await collections.revisions.count({ organizationId })).toBe(0)
    expect(await store.usage(organizationId)).toEqual({ forms: 0, bytes: 0 })
  })

  it('does not subtract the revision of a cancelled publish again', async () => {
    const form = await givenForm(store)
    const { organizationId } = form
    // The command, the usage and the revision.
    await crashAfter(3, (crashing) => crashing.publish(refOf(form), randomUUID(), snapshot))
    await using deleting = new MongoFormsStore(url, { clears: false })
    for (let count = 0; count < 2; count++) await publish(deleting, form)
    expect(await collections.revisions.count({ organizationId, isCancelled: true })).toBe(1)
    await deleting.delete(refOf(form), allow)

    await clearDeletions(collections, signal)

    expect(await collections.revisions.count({ organizationId })).toBe(0)
    const [usage] = await Array.fromAsync(collections.usage.find({ organizationId }))
    expect(usage).toMatchObject({ forms: 0, bytes: 0, revisions: 0, revisionBytes: 0 })
  })
})
