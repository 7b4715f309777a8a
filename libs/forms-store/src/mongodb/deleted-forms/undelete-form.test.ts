import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { givenForm, refOf } from '../../contract/given.ts'
import { operatorContext } from '../../events/recorded-event.ts'
import type { FormRef, StoredForm } from '../../forms-store.ts'
import { noQuota } from '../../quota.ts'
import { deleteForm } from '../changes/delete-form.ts'
import { recordReplies } from '../changes/record-replies.ts'
import { interleave } from '../changes/testing/interleave.ts'
import type { FormsCollections } from '../documents.ts'
import { readRecord } from '../records/export-forms.ts'
import { allow, retry, retryBriefly, startFormsStore } from '../testing.ts'
import { purgeForm } from './purge-form.ts'
import { undeleteForm } from './undelete-form.ts'
import { undeletesInProgress } from './undeletes-in-progress.ts'

const { store, collections } = await startFormsStore({ quick: true })
const recorder = { context: operatorContext, onRecorded: () => {} }
/** How long a deleted form can be restored. */
const days = 30

type Change = (on: FormsCollections, ref: FormRef) => Promise<unknown>

const remove: Change = (on, ref) => deleteForm(on, ref, allow, recorder, days)
const undelete: Change = (on, ref) => undeleteForm(on, noQuota, { ref, check: allow, recorder }, retry)

/** Counts a reply while a change waits after some requests. @returns whether both were done. */
const replyDuring = async (change: Change, form: StoredForm, replyId: string, after: number) => {
  const ref = refOf(form)
  const reply = (on: FormsCollections) =>
    retry(ref, () => recordReplies(on, { ...form, replyIds: [replyId] }))
  const plans = [(on: FormsCollections) => change(on, ref), reply].map((operation) => ({
    operations: [operation],
    failure: undefined,
  }))
  const turns = [
    { process: 0, requests: after },
    { process: 1, requests: 100 },
  ]
  const outcomes = await interleave(collections, plans, turns, async () => {})
  return outcomes.map(([outcome]) => outcome!.result?.value)
}

describe('a delete that is delayed', () => {
  it.each([0, 1, 2, 3, 4, 5])('counts a reply that comes meanwhile: after %i requests', async (after) => {
    const [form, replyId] = [await givenForm(store), randomUUID()]

    const [deleted, counted] = await replyDuring(remove, form, replyId, after)

    expect([deleted, counted]).toEqual([true, 1])
    await undelete(collections, refOf(form))
    expect(await readRecord(collections, form)).toMatchObject({ replyCount: 1, replyIds: [replyId] })
  })
})

describe('an undelete that is delayed', () => {
  it.each([...Array(24).keys()])('counts a reply that comes meanwhile: after %i requests', async (after) => {
    const [form, replyId] = [await givenForm(store), randomUUID()]
    await remove(collections, refOf(form))

    const [restored, counted] = await replyDuring(undelete, form, replyId, after)

    expect(restored).toBeTruthy()
    expect(counted).toBe(1)
    expect(await readRecord(collections, form)).toMatchObject({ replyCount: 1, replyIds: [replyId] })
  })
})

/** The collections as another process has them, which considers an undelete as over after `maxMs`. */
const otherProcess = (maxMs?: number): FormsCollections => {
  const own = { ...collections }
  undeletesInProgress(own, maxMs)
  return own
}

describe('an undelete that was killed in a process whose clock is wrong', () => {
  afterEach(() => vi.restoreAllMocks())

  /** A deleted form that an undelete has claimed by a clock that is `aheadMs` ahead. */
  const givenClaimed = async (aheadMs: number) => {
    const form = await givenForm(store)
    const ref = refOf(form)
    await deleteForm(collections, ref, allow, recorder, days)
    const realNow = Date.now
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => realNow() + aheadMs)
    const insert = vi.spyOn(collections.forms, 'insert').mockRejectedValue(new Error('killed'))
    await expect(undelete(collections, ref)).rejects.toThrow('killed')
    insert.mockRestore()
    clock.mockRestore()
    return { form, ref }
  }

  const undelete = (on: FormsCollections, ref: FormRef) =>
    undeleteForm(on, noQuota, { ref, check: allow, recorder }, retryBriefly)

  const hourMs = 60 * 60_000

  it.each([-hourMs, 0, hourMs])('excludes others for their own time: clock %i ms ahead', async (aheadMs) => {
    const { ref } = await givenClaimed(aheadMs)

    await expect(undelete(otherProcess(), ref)).rejects.toMatchObject({ reason: 'UPDATE_ABORTED' })
    expect(await purgeForm(otherProcess(), ref, allow, recorder)).not.toBe(true)
  })

  it.each([-hourMs, 0, hourMs])('excludes them no longer: clock %i ms ahead', async (aheadMs) => {
    const { ref, form } = await givenClaimed(aheadMs)

    expect(await undelete(otherProcess(0), ref)).toEqual(form)
  })
})
