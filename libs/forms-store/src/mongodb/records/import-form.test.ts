import { randomUUID } from 'node:crypto'
import type { FormRecord } from '@fms/contracts'
import { describe, expect, it } from 'vitest'
import { givenForm, newForm, publish, refOf } from '../../contract/given.ts'
import { MongoFormsStore } from '../forms-store.ts'
import { allow, startFormsStore } from '../testing.ts'

const { url, store, collections, crashAfter } = await startFormsStore()

const exported = (organizationId: string) => Array.fromAsync(store.exportForms(organizationId))

/** The record of a deleted form with revisions and more replies than its document holds. */
const givenRecord = async (): Promise<FormRecord> => {
  const form = await givenForm(store)
  await publish(store, form)
  await publish(store, form)
  for (let count = 0; count < 34; count++) await store.recordReplies({ ...form, replyIds: [randomUUID()] })
  const [record] = await exported(form.organizationId)
  await store.delete(refOf(form), allow)
  return record!
}

describe('an import that crashes between two writes', () => {
  it('leaves nothing visible, and a repeat completes it', async () => {
    let writes = 0
    for (;;) {
      const record = await givenRecord()
      if (!(await crashAfter(writes, (crashing) => crashing.importForm(record)))) break
      writes++
      const { organizationId, formId } = record
      const ref = { organizationId, formRef: formId }
      expect(await store.get(ref)).toBeUndefined()
      expect(await exported(organizationId)).toEqual([])
      expect(await store.listRevisions({ ...ref, limit: 10, skip: 0 })).toBeUndefined()
      const { commandId } = record.revisions[0]!
      expect(await store.findRevisionOfCommand(organizationId, commandId)).toBeUndefined()

      expect(await store.importForm(record)).toBe('imported')
      expect(await exported(organizationId)).toEqual([record])
    }

    // The public id, two revisions, two replies outside of the form, the form, and the usage of each.
    expect(writes).toBe(9)
  })

  it('does not block other forms', async () => {
    const record = await givenRecord()
    await crashAfter(3, (crashing) => crashing.importForm(record))
    const other = newForm({ organizationId: record.organizationId })
    await store.create(other)

    const { commandId } = record.revisions[0]!
    expect(await publish(store, other, commandId)).toMatchObject({ commandId, number: 1 })

    await expect(store.importForm(record)).rejects.toMatchObject({
      reason: 'FORM_CONFLICT',
      parts: { metadata: expect.objectContaining({ field: 'commandId' }) },
    })
  })

  it('does not block an import of a later state of the form', async () => {
    const record = await givenRecord()
    await crashAfter(3, (crashing) => crashing.importForm(record))
    const later = {
      ...record,
      revisions: record.revisions.map((each) => ({ ...each, revisionId: randomUUID() })),
    }
    const live = { number: 2, revisionId: later.revisions[1]!.revisionId }

    expect(await store.importForm({ ...later, live })).toBe('imported')

    expect(await exported(record.organizationId)).toEqual([{ ...later, live }])
  })
})

describe('an import after a delete that crashed', () => {
  it('completes the delete first', async () => {
    const record = await givenRecord()
    await store.importForm(record)
    const { organizationId, formId } = record
    let writes = 0
    await using crashing = new MongoFormsStore(
      url,
      {},
      {
        clears: false,
        beforeWrite: () => {
          if (++writes > 3) throw new Error('killed')
        },
      },
    )
    await expect(crashing.delete({ organizationId, formRef: formId }, allow)).rejects.toThrow('killed')

    expect(await store.importForm(record)).toBe('imported')

    expect(await collections.deletions.count({ organizationId })).toBe(0)
    expect(await exported(organizationId)).toEqual([record])
  })
})
