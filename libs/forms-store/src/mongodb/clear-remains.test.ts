import { randomUUID } from 'node:crypto'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { importForm } from '../changes/import-form.ts'
import { exported, givenRevisions, newForm, newRevision, refOf } from '../contract/given.ts'
import { operatorContext } from '../identified-request.ts'
import { noQuota } from '../quota.ts'
import { toFormRecord } from '../stored-form-record.ts'
import { clearRemains } from './clear-remains.ts'
import type { FormsCollections } from './documents.ts'
import { documentIdOf } from './find-form.ts'
import { MongoFormsStore } from './forms-store.ts'
import { mongoChanges } from './mongo-changes.ts'
import { startFormsStore } from './testing.ts'
import { MongoQuota } from './usage.ts'

const { url, store, collections } = await startFormsStore()

/** A form whose import needs several batches. */
const newRecord = () => {
  const form = newForm({ live: true })
  const revisions = [1, 2].map((number) =>
    newRevision(form, { number, formJson: JSON.stringify({ name: 'x'.repeat(2_200_000) }) }),
  )
  const live = { revisionNumber: 2, liveNumber: 2, liveRevisionId: revisions[1]!.revisionId }
  return toFormRecord(form, { ...live, revisions, replyIds: [randomUUID(), randomUUID()] })
}

/** The import of a record, as another process decides it. */
const importOf = (record: ReturnType<typeof newRecord>) => {
  const origin = { context: operatorContext, time: new Date(), eventId: randomUUID() }
  return importForm(record, new Date(0), true, origin)
}

describe('clearRemains', () => {
  it('clears what a purge has left whose process has a clock that is ahead', async () => {
    await using ahead = new MongoFormsStore(url, { clears: false })
    const { form } = await givenRevisions(ahead, [1])
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 })
    onTestFinished(() => void vi.useRealTimers())
    await ahead.delete(refOf(form), () => {})
    vi.useRealTimers()

    await clearRemains(collections)

    const { organizationId } = form
    expect(await collections.revisions.count({ organizationId })).toBe(0)
    expect(await collections.remains.count({ organizationId })).toBe(0)
  })

  it('leaves an import alone that becomes visible after its remains were found', async () => {
    const record = newRecord()
    const { organizationId, formId } = record
    const find = async function* () {
      await store.importForm(record)
      const form = await collections.forms.findOne({ _id: documentIdOf(record), organizationId })
      yield { _id: form!.incarnation, organizationId, formId, clearTime: 0, isCounted: false }
    }
    const remains = {
      find,
      findDurable: (query: object) => collections.remains.findDurable(query),
      deleteOne: (query: object) => collections.remains.deleteOne(query),
    } as unknown as FormsCollections['remains']

    await clearRemains({ ...collections, remains })

    expect(await exported(store, organizationId)).toEqual([record])
  })

  it.each(['before the first batch', 'after its revisions were found'])(
    'leaves nothing behind of an import that goes on %s',
    async (moment) => {
      const record = newRecord()
      const { organizationId } = record
      let batches = 0
      const database = {
        transaction: async (...args: Parameters<FormsCollections['database']['transaction']>) => {
          if (++batches !== 2) return collections.database.transaction(...args)
          const [staged] = await collections.remains.findDurable({ organizationId })
          let stored: Promise<unknown> | undefined
          const store = () => (stored ??= collections.database.transaction(...args))
          const revisions = {
            findDurable: async (...query: Parameters<FormsCollections['revisions']['findDurable']>) => {
              const found = await collections.revisions.findDurable(...query)
              if (moment !== 'before the first batch') await store()
              return found
            },
          } as FormsCollections['revisions']
          await clearRemains({ ...collections, revisions }, undefined, staged!._id)
          return store()
        },
      } as unknown as FormsCollections['database']
      const other = { ...collections, database }
      const changes = mongoChanges(other, new MongoQuota(other, noQuota))

      expect(await changes.apply(importOf(record))).toBe(false)

      expect(batches).toBeGreaterThanOrEqual(2)
      expect(await collections.revisions.count({ organizationId })).toBe(0)
      expect(await collections.replies.count({ organizationId })).toBe(0)
      expect(await store.importForm(record)).toBe('imported')
      expect(await exported(store, organizationId)).toEqual([record])
    },
  )
})
