import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { edited, givenForm, newForm, refOf, snapshot } from '../../contract/given.ts'
import { operatorContext } from '../../events/recorded-event.ts'
import type { StoredForm } from '../../forms-store.ts'
import { noQuota } from '../../quota.ts'
import { type ChangeMethod, RequestReplay } from '../../requests/identified-request.ts'
import { clearDeletions } from '../changes/clear-deletions.ts'
import { createForm } from '../changes/create-form.ts'
import { deleteForm } from '../changes/delete-form.ts'
import { publishForm } from '../changes/publish-form.ts'
import { killBefore, runAfter, runBefore } from '../changes/testing/between-requests.ts'
import { updateForm } from '../changes/update-form.ts'
import type { DeletionDocument, FormsCollections } from '../documents.ts'
import { collectEvents, collectForm } from '../events/collect-events.ts'
import type { ChangeRecorder } from '../events/record-event.ts'
import { withRequest } from '../request-ids/request-in-progress.ts'
import { findRevision } from '../revisions/find-revision.ts'
import { allow, retry, startFormsStore } from '../testing.ts'
import { countForms } from '../usage.ts'
import { listDeleted } from './list-deleted.ts'
import { purgeForm } from './purge-form.ts'
import { undeleteForm } from './undelete-form.ts'

const { store, collections } = await startFormsStore({ quick: true })
const never = new AbortController().signal
const recorder: ChangeRecorder = { context: operatorContext, onRecorded: () => {} }
const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
/** How long a deleted form can be restored. */
const days = 30

const deleteIn = (on: FormsCollections, form: StoredForm) =>
  deleteForm(on, refOf(form), allow, recorder, days)

const deleteForGoodIn = (on: FormsCollections, form: StoredForm) =>
  deleteForm(on, refOf(form), allow, recorder)

const undeleteIn = (on: FormsCollections, form: StoredForm, own: ChangeRecorder = recorder) =>
  undeleteForm(on, noQuota, { ref: refOf(form), check: allow, recorder: own }, retry)

const purgeIn = (on: FormsCollections, form: StoredForm) =>
  retry(refOf(form), () => purgeForm(on, refOf(form), allow, recorder))

const publishIn = (on: FormsCollections, form: StoredForm, commandId: string = randomUUID()) => {
  const command = { ref: refOf(form), commandId, snapshot, beforeStoring: undefined, recorder }
  return publishForm(on, noQuota, command, retry)
}

const patch = (form: StoredForm) =>
  retry(refOf(form), () =>
    updateForm(collections, noQuota, refOf(form), (now) => edited(now, { name: randomUUID() }), recorder),
  )

/** A request with a `requestId` that may be sent several times. */
const requestOf = <T>(
  method: ChangeMethod,
  organizationId: string,
  change: (on: FormsCollections, own: ChangeRecorder) => Promise<T>,
) => {
  const request = { requestId: randomUUID(), method, digest: '' }
  const identified = { ...recorder, context: { ...operatorContext, request } }
  return (on: FormsCollections = collections) =>
    withRequest(on, organizationId, identified, (own) => change(on, own))
}

/** A create with a `requestId`. Each attempt has ids of its own, of which the first ones count. */
const createRequest = (organizationId: string) =>
  requestOf('create', organizationId, (on, own) => createForm(on, noQuota, newForm({ organizationId }), own))

const killed = async (work: Promise<unknown>): Promise<void> => {
  await expect(work).rejects.toThrow('killed')
}

const collectAll = async (now = Number.MAX_SAFE_INTEGER) => {
  while ((await collectEvents(collections, 100, now)) > 0);
}

/** Types of the events of a form, once all are in the log. */
const typesOf = async ({ organizationId, formId }: StoredForm): Promise<string[]> => {
  await collectAll()
  const found = collections.events.find({ organizationId, formId }, { sort: { sequence: 1 } })
  return (await Array.fromAsync(found)).map(({ event }) => JSON.parse(event).type)
}

const deletedOf = async ({ organizationId }: StoredForm) => {
  const query = { organizationId, limit: 10, skip: 0 }
  const limits = { timeoutMs: 5_000, throwIfAborted: () => {} }
  return (await listDeleted(collections, query, limits)).deletedForms
}

const notesOf = ({ organizationId }: StoredForm): Promise<DeletionDocument[]> =>
  Array.fromAsync(collections.deletions.find({ organizationId }))

/** Makes a note older, with all of its times. */
const age = async ({ _id, organizationId, ...note }: DeletionDocument, ms: number): Promise<void> => {
  const { beginTime, clearTime, purgeTime = 0 } = note
  const fields = { beginTime: beginTime - ms, clearTime: clearTime - ms, purgeTime: purgeTime - ms }
  await collections.deletions.set({ organizationId, _id }, fields)
}

const isPublicIdReserved = ({ publicId }: StoredForm) => collections.publicIds.has({ _id: publicId })

/** Blocks until it is opened. */
const newGate = () => {
  const [reached, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const pass = () => {
    reached.resolve()
    return opened.promise
  }
  return { pass, reached: reached.promise, open: opened.resolve }
}

describe('a killed delete', () => {
  it('that could be undone leaves nothing after a delete for good', async () => {
    const form = await givenForm(store)
    await publishIn(collections, form)
    await killed(deleteIn(killBefore(collections, 'forms.deleteOne'), form))

    expect(await deleteForGoodIn(collections, form)).toBe(true)
    await clearDeletions(collections, never)
    await collectAll()

    expect(await deletedOf(form)).toEqual([])
    expect(await undeleteIn(collections, form)).toBeUndefined()
    expect(await typesOf(form)).toEqual(['form.created', 'form.published', 'form.deleted'])
  })

  it('keeps the public id of a form that can be restored', async () => {
    const form = await givenForm(store)
    await killed(deleteForGoodIn(killBefore(collections, 'deletions.set'), form))
    expect(await isPublicIdReserved(form)).toBe(true)

    await collectAll()
    await clearDeletions(collections, never)

    expect(await isPublicIdReserved(form)).toBe(false)
  })

  it('has no effect on when a later delete is purged', async () => {
    const form = await givenForm(store)
    await killed(deleteIn(killBefore(collections, 'forms.deleteOne'), form))
    const [note] = await notesOf(form)
    await age(note!, 31 * dayMs)

    await killed(deleteIn(killBefore(collections, 'deletions.set'), form))
    await collectAll()
    await clearDeletions(collections, never)

    const [deleted] = await deletedOf(form)
    expect(deleted!.purgeTime.getTime()).toBeGreaterThan(Date.now() + 29 * dayMs)
    expect(await typesOf(form)).toEqual(['form.created', 'form.deleted'])
  })
})

describe('a delete with a requestId', () => {
  it('is replayed at once, also after two killed attempts', async () => {
    const form = await givenForm(store)
    const remove = requestOf('delete', form.organizationId, (on, own) =>
      deleteForm(on, refOf(form), allow, own, days),
    )
    await killed(remove(killBefore(collections, 'forms.deleteOne')))
    await killed(remove(killBefore(collections, 'deletions.set')))

    await expect(remove()).rejects.toThrow(RequestReplay)

    expect(await typesOf(form)).toEqual(['form.created', 'form.deleted'])
  })
})

describe('a publish whose form is deleted meanwhile', () => {
  it('keeps its revision, which a repeat after an undelete makes live', async () => {
    const form = await givenForm(store)
    const commandId = randomUUID()
    const restored = runBefore(collections, 'revisions.deleteOne', async () => {
      await collectAll()
      await undeleteIn(collections, form)
      await publishIn(collections, form, commandId)
    })
    const deleted = runAfter(restored, 'revisions.insert', () => deleteIn(collections, form))

    expect(await publishIn(deleted, form, commandId)).toBeUndefined()
    await undeleteIn(collections, form)
    await publishIn(collections, form, commandId)

    const live = await findRevision(collections, refOf(form), 'live')
    expect(live?.revision).toMatchObject({ commandId, number: 1 })
  })
})

describe('a collection', () => {
  it('does not count a delete of a form that was restored and deleted in part meanwhile', async () => {
    const form = await givenForm(store)
    await deleteIn(collections, form)
    const meanwhile = runAfter(collections, 'forms.confirmEach', async () => {
      await undeleteIn(collections, form)
      await killed(deleteIn(killBefore(collections, 'forms.deleteOne'), form))
    })

    await collectForm(meanwhile, form)

    expect(await deletedOf(form)).toEqual([])
    expect(await store.get(refOf(form))).toBeDefined()
    await patch(form)
    const types = ['form.created', 'form.deleted', 'form.undeleted', 'form.updated']
    expect(await typesOf(form)).toEqual(types)
  })
})

describe('a create with a requestId that is repeated', () => {
  it('keeps the public id of its form that was deleted', async () => {
    const { organizationId } = newForm()
    const create = createRequest(organizationId)
    let form: StoredForm | undefined
    const created = runBefore(collections, 'forms.insert', async () => {
      form = await create()
    })
    const deleted = runAfter(created, 'forms.insert', () => deleteIn(collections, form!))

    await expect(create(deleted)).rejects.toThrow(RequestReplay)

    expect(await isPublicIdReserved(form!)).toBe(true)
    expect(await deletedOf(form!)).toHaveLength(1)
  })

  it.each([
    ['can be undone', deleteIn],
    ['is for good', deleteForGoodIn],
  ])('does not bring it back between the steps of a delete that %s', async (_, remove) => {
    const { organizationId } = newForm()
    const create = createRequest(organizationId)
    const gate = newGate()
    const late = create(runBefore(collections, 'forms.insert', gate.pass)).catch((error) => error)
    await gate.reached
    const form = (await create())!
    const meanwhile = runAfter(collections, 'forms.deleteOne', () => {
      gate.open()
      return late
    })

    expect(await remove(meanwhile, form)).toBe(true)

    expect(await store.get(refOf(form))).toBeUndefined()
    expect(await typesOf(form)).toEqual(['form.created', 'form.deleted'])
    expect((await collections.usage.findOne({ _id: organizationId }))!.dueTime).toBe(0)
  })

  it('is removed by the clearing if it was killed after a delete for good', async () => {
    const { organizationId } = newForm()
    const create = createRequest(organizationId)
    const gate = newGate()
    const delayed = runBefore(collections, 'forms.insert', gate.pass)
    const late = killed(create(killBefore(delayed, 'deletions.find')))
    await gate.reached
    const form = (await create())!
    await deleteForGoodIn(collections, form)
    gate.open()
    await late
    expect(await store.get(refOf(form))).toBeDefined()

    await clearDeletions(collections, never)

    expect(await store.get(refOf(form))).toBeUndefined()
    expect(await isPublicIdReserved(form)).toBe(false)
  })

  it('does not bring it back before a collection finds its delete', async () => {
    const { organizationId } = newForm()
    const create = createRequest(organizationId)
    const gate = newGate()
    const late = create(runBefore(collections, 'forms.insert', gate.pass)).catch((error) => error)
    await gate.reached
    const form = (await create())!
    await killed(deleteIn(killBefore(collections, 'deletions.set'), form))
    const meanwhile = runAfter(collections, 'forms.confirmEach', () => {
      gate.open()
      return late
    })

    await collectForm(meanwhile, form)

    expect(await store.get(refOf(form))).toBeUndefined()
    expect(await deletedOf(form)).toHaveLength(1)
  })
})

describe('an undelete', () => {
  it('does not undo a later delete', async () => {
    const form = await givenForm(store)
    await deleteIn(collections, form)
    const meanwhile = runAfter(collections, 'forms.insert', () => deleteIn(collections, form))

    expect(await undeleteIn(meanwhile, form)).toBeDefined()

    expect(await store.get(refOf(form))).toBeUndefined()
    expect(await deletedOf(form)).toHaveLength(1)
    const types = ['form.created', 'form.deleted', 'form.undeleted', 'form.deleted']
    expect(await typesOf(form)).toEqual(types)
    expect(await countForms(collections, form.organizationId)).toBe(0)
  })

  it('that is repeated does not bring the form back between the steps of the next delete', async () => {
    const form = await givenForm(store)
    await deleteIn(collections, form)
    const undelete = requestOf('undelete', form.organizationId, (on, own) => undeleteIn(on, form, own))
    const gate = newGate()
    const late = undelete(runBefore(collections, 'forms.insert', gate.pass)).catch((error) => error)
    await gate.reached
    await undelete()
    const meanwhile = runAfter(collections, 'forms.deleteOne', () => {
      gate.open()
      return late
    })

    expect(await deleteIn(meanwhile, form)).toBe(true)

    expect(await store.get(refOf(form))).toBeUndefined()
    const types = ['form.created', 'form.deleted', 'form.undeleted', 'form.deleted']
    expect(await typesOf(form)).toEqual(types)
  })
})

describe('a purge', () => {
  const types = ['form.created', 'form.deleted', 'form.purged']

  it('keeps its event when a collection removes those of the delete meanwhile', async () => {
    const form = await givenForm(store)
    await deleteIn(collections, form)
    const meanwhile = runBefore(collections, 'deletions.setEach', () => purgeIn(collections, form))

    await collectForm(meanwhile, form)

    expect(await typesOf(form)).toEqual(types)
  })

  it('has no event after another purge, also when that is collected already', async () => {
    const form = await givenForm(store)
    await deleteIn(collections, form)
    await collectAll()
    const late = runBefore(collections, 'deletions.set', async () => {
      await purgeIn(collections, form)
      await collectAll()
    })

    expect(await purgeIn(late, form)).toBe(false)

    expect(await typesOf(form)).toEqual(types)
  })
})
