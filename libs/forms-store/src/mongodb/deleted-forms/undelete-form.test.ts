import { randomUUID } from 'node:crypto'
import { retryOnConflict, type writeConflict } from '@fms/store-kit/mongodb'
import { describe, expect, it } from 'vitest'
import { givenForm, refOf } from '../../contract/given.ts'
import { newDeletion } from '../../deletions/deletion.ts'
import { updateAborted } from '../../errors.ts'
import { operatorContext } from '../../events/recorded-event.ts'
import type { FormRef } from '../../forms-store.ts'
import { noQuota } from '../../quota.ts'
import { deleteForm } from '../changes/delete-form.ts'
import { recordReplies } from '../changes/record-replies.ts'
import { interleave } from '../changes/testing/interleave.ts'
import type { FormsCollections } from '../documents.ts'
import { readRecord } from '../records/export-forms.ts'
import { allow, startFormsStore } from '../testing.ts'
import { undeleteForm } from './undelete-form.ts'

const { store, collections } = await startFormsStore({ quick: true })
const recorder = { context: operatorContext, onRecorded: () => {} }
const deletionAt = (time: Date) => newDeletion(time, 30, { operator: true })

const retry = <T>(ref: FormRef, attempt: () => Promise<T | typeof writeConflict>) =>
  retryOnConflict(attempt, () => updateAborted(ref))

describe('a delete that is delayed', () => {
  it.each([0, 1, 2, 3, 4, 5])(
    'keeps a reply that was counted meanwhile: after %i requests',
    async (after) => {
      const form = await givenForm(store)
      const ref = refOf(form)
      const replyId = randomUUID()
      const reply = (on: FormsCollections) =>
        retry(ref, () => recordReplies(on, { ...form, replyIds: [replyId] }))
      const plans = [
        {
          operations: [(on: FormsCollections) => deleteForm(on, ref, allow, recorder, deletionAt)],
          failure: undefined,
        },
        { operations: [reply], failure: undefined },
      ]
      const turns = [
        { process: 0, requests: after },
        { process: 1, requests: 100 },
      ]

      const outcomes = await interleave(collections, plans, turns, async () => {})

      const [deleted, counted] = outcomes.map(([outcome]) => outcome!.result?.value)
      expect(deleted).toBe(true)
      await undeleteForm(collections, noQuota, { ref, check: allow, recorder }, retry)
      const record = await readRecord(collections, form)
      expect(record).toMatchObject({ replyCount: counted, replyIds: counted === 1 ? [replyId] : [] })
    },
  )
})
