import { randomUUID } from 'node:crypto'
import { type MongoCollection, MongoDatabase, type MongoDocument } from '@fms/store-kit/mongodb'
import { describe, expect, it } from 'vitest'
import { givenForm, publish, refOf, snapshot } from '../contract/given.ts'
import { clearDeletions } from './changes/clear-deletions.ts'
import { fillIncarnations } from './fill-incarnations.ts'
import { allow, startFormsStore } from './testing.ts'

const { url, store, collections, crashAfter } = await startFormsStore()

/** Replaces the documents of an organization by what `change` makes of them. */
const rewrite = async <T extends MongoDocument>(
  collection: MongoCollection<T>,
  organizationId: string,
  change: (document: T) => object,
): Promise<void> => {
  for (const document of await Array.fromAsync(collection.find({ organizationId }))) {
    await collection.deleteOne({ organizationId, _id: document._id })
    await collection.insert(change(document) as T)
  }
}

/** Gives the documents of an organization the shape of schema 2. */
const toSchema2 = async (organizationId: string): Promise<void> => {
  await rewrite(collections.forms, organizationId, ({ incarnation: _, ...form }) => form)
  await rewrite(collections.revisions, organizationId, ({ incarnation: _, revisionId: _id, ...rest }) => ({
    ...rest,
    _id,
  }))
  await rewrite(collections.replies, organizationId, ({ incarnation: _, ...reply }) => reply)
  await rewrite(
    collections.publicIds,
    organizationId,
    ({ incarnations: _, isShared: __, ...reservation }) => reservation,
  )
  await rewrite(collections.deletions, organizationId, ({ formId: _id, publicId, beginTime }) => ({
    _id,
    organizationId,
    publicId,
    beginTime,
  }))
  await collections.commands.deleteMany({ organizationId })
}

/** A form with two revisions and 34 replies, and a deleted one whose remains are not cleared. */
const given = async () => {
  const form = await givenForm(store)
  const { organizationId } = form
  const { commandId } = await publish(store, form)
  await publish(store, form)
  // More than the form's document holds.
  for (const count of [30, 4]) {
    await store.recordReplies({ ...form, replyIds: Array.from({ length: count }, () => randomUUID()) })
  }
  const deleted = await givenForm(store, { organizationId })
  const command = (await publish(store, deleted)).commandId
  await crashAfter(3, (crashing) => crashing.delete(refOf(deleted), allow))
  const [record] = await Array.fromAsync(store.exportForms(organizationId))
  await toSchema2(organizationId)
  return { organizationId, form, deleted, record, commandId, command }
}

describe('fillIncarnations', () => {
  it('completes documents of schema 2, also when it is killed between two writes and runs again', async () => {
    for (let writes = 0, isKilled = true; isKilled; writes += 4) {
      const { organizationId, form, deleted, record, commandId, command } = await given()
      let left = writes
      const killAtEnd = () => {
        if (left-- <= 0) throw new Error('killed')
      }
      {
        await using database = new MongoDatabase(url, killAtEnd)
        isKilled = await fillIncarnations(database).then(
          () => false,
          () => true,
        )
      }
      await using database = new MongoDatabase(url)
      await fillIncarnations(database)

      expect(await Array.fromAsync(store.exportForms(organizationId))).toEqual([record])
      expect(await store.publish(refOf(form), commandId, snapshot)).toMatchObject({ live: true })
      expect(await store.findRevisionOfCommand(organizationId, commandId)).toMatchObject({ number: 1 })
      expect(await publish(store, form, command)).toMatchObject({ number: 3 })
      await clearDeletions(collections, new AbortController().signal, Number.MAX_SAFE_INTEGER)
      expect(await collections.revisions.count({ organizationId, formId: deleted.formId })).toBe(0)
      await store.delete(refOf(form), allow)
      for (const { publicId } of [form, deleted]) {
        expect(await collections.publicIds.findOne({ _id: publicId })).toBeUndefined()
      }
    }
  })
})
