import { randomUUID } from 'node:crypto'
import { MongoDatabase, storeUnavailable } from '@fms/store-kit/mongodb'
import { openFailpoints } from '@fms/testkit/failpoints'
import { afterAll, describe, expect, it } from 'vitest'
import { edited, givenForm, publish, refOf } from '../contract/given.ts'
import type { FormsStore, StoredForm } from '../forms-store.ts'
import { clearDeletions } from './changes/clear-deletions.ts'
import { formsCollections } from './documents.ts'
import { MongoFormsStore } from './forms-store.ts'
import { allow, startFormsStore } from './testing.ts'

const { mongo, url, store } = await startFormsStore()
const failpoints = await openFailpoints(mongo)
afterAll(() => failpoints?.[Symbol.asyncDispose]())

const unavailable = { status: 'UNAVAILABLE', reason: 'STORE_UNAVAILABLE' }

/** A change that was stored, and its repeat, which finds nothing to change. */
interface Repeat {
  repeat(store: FormsStore): Promise<unknown>
  /** What the repeat returns. */
  result: unknown
}

const repeats: Record<string, (form: StoredForm) => Promise<Repeat>> = {
  'a patch that changes nothing': async (form) => {
    const changed = edited(form, { name: 'Changed' })
    await store.update(refOf(form), () => changed)
    return { repeat: (each) => each.update(refOf(form), (current) => current), result: changed }
  },
  'a publish with the same command': async (form) => {
    const commandId = randomUUID()
    const revision = await publish(store, form, commandId)
    return { repeat: (each) => publish(each, form, commandId), result: revision }
  },
  'a publish with the same command after a later one': async (form) => {
    const commandId = randomUUID()
    const revision = await publish(store, form, commandId)
    await publish(store, form)
    return { repeat: (each) => publish(each, form, commandId), result: revision }
  },
  'a delete of a deleted form': async (form) => {
    await store.delete(refOf(form), allow)
    return { repeat: (each) => each.delete(refOf(form), allow), result: false }
  },
  'a delete of a deleted form by its public id': async (form) => {
    await store.delete(refOf(form), allow)
    const ref = { ...refOf(form), formRef: form.publicId }
    return { repeat: (each) => each.delete(ref, allow), result: false }
  },
  'an import of a form that exists': async (form) => {
    await publish(store, form)
    const [record] = await Array.fromAsync(store.exportForms(form.organizationId))
    return { repeat: (each) => each.importForm(record!), result: 'exists' }
  },
  'replies that are counted': async (form) => {
    const replies = { ...form, replyIds: [randomUUID(), randomUUID()] }
    await store.recordReplies(replies)
    return { repeat: (each) => each.recordReplies(replies), result: 0 }
  },
  'replies to a deleted form': async (form) => {
    await store.delete(refOf(form), allow)
    return { repeat: (each) => each.recordReplies({ ...form, replyIds: [randomUUID()] }), result: 0 }
  },
}

describe('a repeat that finds its change stored', () => {
  it.each(Object.entries(repeats))('waits for the majority: %s', async (_, given) => {
    const { repeat, result } = await given(await givenForm(store))
    const beforeWrite = () => {
      throw storeUnavailable(new Error('no majority'))
    }
    await using isolated = new MongoFormsStore(url, { clears: false }, { beforeWrite })

    await expect(repeat(isolated)).rejects.toMatchObject(unavailable)
    expect(await repeat(store)).toEqual(result)
  })

  it('waits for the majority of each shard: a repeated publish confirms its revision and its form', async () => {
    const form = await givenForm(store)
    const commandId = randomUUID()
    await publish(store, form, commandId)
    const written: string[] = []
    const beforeWrite = ({ collection }: { collection: string }) => void written.push(collection)
    await using recording = new MongoFormsStore(url, { clears: false }, { beforeWrite })

    await publish(recording, form, commandId)

    expect(written).toEqual(expect.arrayContaining(['revisions', 'forms']))
  })

  it.runIf(failpoints).each(Object.entries(repeats))(
    'is UNAVAILABLE while the engine reports that no majority confirms it: %s',
    async (_, given) => {
      const { repeat, result } = await given(await givenForm(store))
      await using isolated = new MongoFormsStore(failpoints!.url, { clears: false })
      const failure = {
        failCommands: ['insert', 'update', 'findAndModify', 'delete'],
        writeConcernError: { code: 64, errmsg: 'waiting for replication timed out' },
      }

      const failed = failpoints!.during(failure, () => repeat(isolated))

      await expect(failed).rejects.toMatchObject(unavailable)
      expect(await repeat(isolated)).toEqual(result)
    },
  )

  it.runIf(failpoints)(
    'is not acknowledged by a repeat either, after a first attempt that failed so',
    async () => {
      const form = await givenForm(store)
      const changed = edited(form, { name: 'Changed' })
      const change = (current: StoredForm) => (current.version === form.version ? changed : current)
      await using isolated = new MongoFormsStore(failpoints!.url, { clears: false })
      const failure = {
        failCommands: ['update', 'findAndModify'],
        writeConcernError: { code: 64, errmsg: 'waiting for replication timed out' },
      }

      await failpoints!.during(failure, async () => {
        await expect(isolated.update(refOf(form), change)).rejects.toMatchObject(unavailable)
        await expect(isolated.update(refOf(form), change)).rejects.toMatchObject(unavailable)
      })

      expect(await isolated.update(refOf(form), change)).toEqual(changed)
    },
  )
})

describe('the clearing of a deleted form', () => {
  it('waits until a majority has the delete', async () => {
    await using deleter = new MongoFormsStore(url, { clears: false })
    const form = await givenForm(deleter)
    await publish(deleter, form)
    await deleter.delete(refOf(form), allow)
    const beforeWrite = ({ operation }: { operation: string }) => {
      if (operation === 'confirm') throw storeUnavailable(new Error('no majority'))
    }
    await using isolated = new MongoDatabase(url, beforeWrite)
    const { revisions } = formsCollections(isolated)
    const { organizationId } = form

    await clearDeletions(formsCollections(isolated), AbortSignal.timeout(60_000))

    expect(await revisions.count({ organizationId })).toBe(1)
  })
})
