import { randomUUID } from 'node:crypto'
import type { FormRecord } from '@fms/contracts'
import { describe, expect, it } from 'vitest'
import { edited, givenForm, newForm, publish, refOf, snapshot } from '../../contract/given.ts'
import type { FormRef, FormsStore } from '../../forms-store.ts'
import { clearDeletions } from '../changes/clear-deletions.ts'
import { MongoFormsStore } from '../forms-store.ts'
import { allow, startFormsStore } from '../testing.ts'

const { url, store, collections, crashAfter } = await startFormsStore()

const { signal } = new AbortController()

const exported = (organizationId: string) => Array.fromAsync(store.exportForms(organizationId))

/** The record of a deleted form with revisions and more replies than its document holds. */
const givenRecord = async (): Promise<FormRecord> => {
  const form = await givenForm(store)
  await publish(store, form)
  await publish(store, form)
  for (const count of [30, 4]) {
    await store.recordReplies({ ...form, replyIds: Array.from({ length: count }, () => randomUUID()) })
  }
  const [record] = await exported(form.organizationId)
  await store.delete(refOf(form), allow)
  return record!
}

describe('an import that crashes between two writes', () => {
  it('leaves the whole form or nothing visible, and a repeat completes it', async () => {
    const visible: boolean[] = []
    for (;;) {
      const record = await givenRecord()
      // Otherwise the number of writes depends on what the delete left.
      await clearDeletions(collections, signal)
      if (!(await crashAfter(visible.length, (crashing) => crashing.importForm(record)))) break
      const { organizationId, formId } = record
      const ref = { organizationId, formRef: formId }
      const isVisible = (await store.get(ref)) !== undefined
      visible.push(isVisible)
      if (!isVisible) {
        expect(await exported(organizationId)).toEqual([])
        expect(await store.listRevisions({ ...ref, limit: 10, skip: 0 })).toBeUndefined()
        const { commandId } = record.revisions[0]!
        expect(await store.findRevisionOfCommand(organizationId, commandId)).toBeUndefined()
      }

      expect(await store.importForm(record)).toBe(isVisible ? 'exists' : 'imported')
      expect(await exported(organizationId)).toEqual([record])
    }

    // The note, the public id, two commands, the usage, the revisions, the replies, the usage, the form; then the note
    // goes.
    expect(visible).toEqual([...Array(9).fill(false), true])
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

describe('an import of a form whose delete crashed', () => {
  it.each([1, 2, 3, 4])(
    'after %i writes: no clearing of that delete changes the new form',
    async (writes) => {
      const record = await givenRecord()
      await store.importForm(record)
      const { organizationId, formId } = record
      const ref = { organizationId, formRef: formId }
      await crashAfter(writes, (crashing) => crashing.delete(ref, allow))

      expect(await store.importForm(record)).toBe(writes <= 2 ? 'exists' : 'imported')
      await clearDeletions(collections, signal)
      expect(await store.recordReplies({ ...record, replyIds: record.replyIds.slice(0, 3) })).toBe(0)
      await clearDeletions(collections, signal, Number.MAX_SAFE_INTEGER)

      expect(await exported(organizationId)).toEqual([record])
      expect(await collections.revisions.count({ organizationId })).toBe(2)
      // A public id that is not reserved could be given to another form.
      expect(await store.create(newForm({ publicId: record.publicId }))).toBeUndefined()
      expect(await store.delete(ref, allow)).toBe(true)
      expect(await store.create(newForm({ publicId: record.publicId }))).toBeDefined()
    },
  )

  it('does not show the revision of a publish that was killed after the delete', async () => {
    const record = await givenRecord()
    await store.importForm(record)
    const { organizationId, formId } = record
    const ref = { organizationId, formRef: formId }
    const commandId = randomUUID()
    await using deleter = new MongoFormsStore(url, { clears: false })
    const beforeWrite = async ({ collection, operation }: { collection: string; operation: string }) => {
      if (collection !== 'revisions') return
      if (operation === 'insert') await deleter.delete(ref, allow)
      else throw new Error('killed')
    }
    await using publisher = new MongoFormsStore(url, { clears: false }, { beforeWrite })
    await expect(publisher.publish(ref, commandId, snapshot)).rejects.toThrow('killed')
    expect(await collections.revisions.count({ organizationId, commandId })).toBe(1)

    await store.importForm(record)

    expect(await exported(organizationId)).toEqual([record])
    expect(await store.findRevisionOfCommand(organizationId, commandId)).toBeUndefined()
    await clearDeletions(collections, signal, Number.MAX_SAFE_INTEGER)
    expect(await collections.revisions.count({ organizationId, commandId })).toBe(0)
    expect(await exported(organizationId)).toEqual([record])
  })

  it('does not wait for a leftover that cannot be cleared', async () => {
    const record = await givenRecord()
    await store.importForm(record)
    const { organizationId, formId } = record
    const ref = { organizationId, formRef: formId }
    await crashAfter(3, (crashing) => crashing.delete(ref, allow))
    const beforeWrite = ({ collection, operation }: { collection: string; operation: string }) => {
      if (collection === 'revisions' && operation === 'delete') throw new Error('cannot be cleared')
    }
    await using stuck = new MongoFormsStore(url, { clears: false }, { beforeWrite })

    expect(await stuck.importForm(record)).toBe('imported')
    expect(await stuck.delete(ref, allow)).toBe(true)
    expect(await stuck.importForm(record)).toBe('imported')
    expect(await exported(organizationId)).toEqual([record])
  })
})

describe('a form that is deleted and imported again during a change', () => {
  const change = {
    publish: (on: FormsStore, ref: FormRef) => on.publish(ref, randomUUID(), snapshot),
    patch: (on: FormsStore, ref: FormRef) =>
      on.update(ref, (current) => edited(current, { tone: 'changed' })),
    reply: (on: FormsStore, { organizationId, formRef: formId }: FormRef) =>
      on.recordReplies({ organizationId, formId, replyIds: [randomUUID()] }),
  }

  /** Restores another state of the form, with the same version and number of replies, before the change is written. */
  const raced = async (kind: keyof typeof change) => {
    const record = await givenRecord()
    await store.importForm(record)
    const replyIds = record.replyIds.map(() => randomUUID()).sort()
    const restored = { ...record, draft: { ...record.draft, name: 'Restored' }, replyIds }
    const { organizationId, formId } = record
    const ref = { organizationId, formRef: formId }
    let isRestored = false
    const beforeWrite = async ({ collection, operation }: { collection: string; operation: string }) => {
      if (collection !== 'forms' || operation !== 'set' || isRestored) return
      isRestored = true
      await store.delete(ref, allow)
      await store.importForm(restored)
    }
    await using racing = new MongoFormsStore(url, { clears: false }, { beforeWrite })
    const result = await change[kind](racing, ref)
    expect(isRestored).toBe(true)
    const [found] = await exported(organizationId)
    return { result, found: found!, restored }
  }

  it('has no revision of the publish', async () => {
    const { result, found, restored } = await raced('publish')

    expect(result).toBeUndefined()
    expect(found).toEqual(restored)
  })

  it('has the patch on top of the imported draft', async () => {
    const { found, restored } = await raced('patch')

    expect(found.draft).toEqual({ ...restored.draft, tone: 'changed' })
    expect(found.version).toBe(restored.version + 1)
  })

  it('has the reply beside those of the import', async () => {
    const { result, found, restored } = await raced('reply')

    expect(result).toBe(1)
    expect(found.replyIds).toEqual(expect.arrayContaining(restored.replyIds))
    expect(found.replyIds).toHaveLength(restored.replyIds.length + 1)
  })
})
