import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { givenForm, publish, refOf } from '../../contract/given.ts'
import type { StoredForm } from '../../forms-store.ts'
import type { DeletionDocument } from '../documents.ts'
import { findForm } from '../find-form.ts'
import { startFormsStore } from '../testing.ts'
import { clearDeletions } from './clear-deletions.ts'

const { store, collections } = await startFormsStore({ quick: true })

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
