import { randomUUID } from 'node:crypto'
import { MongoDatabase } from '@fms/store-kit/mongodb'
import { describe, expect, it, vi } from 'vitest'
import { collectAll, logOf } from '../../contract/events/log-of.ts'
import {
  atOnce,
  edited,
  givenForm,
  newForm,
  newRevision,
  publish,
  refOf,
  time,
} from '../../contract/given.ts'
import type { StoredForm } from '../../forms-store.ts'
import { clearDeletions } from '../changes/clear-deletions.ts'
import { newFormDocument, newRevisionDocument } from '../convert-documents.ts'
import { type DeletionDocument, formsCollections } from '../documents.ts'
import { MongoFormsStore } from '../forms-store.ts'
import { allow, startFormsStore } from '../testing.ts'
import { collectEvents } from './collect-events.ts'
import { maxPendingEvents } from './record-event.ts'

const { url, store, collections, crashAfter } = await startFormsStore()

const idsOf = ({ organizationId, formId }: StoredForm) => ({ organizationId, _id: formId })

const typesOf = async ({ organizationId }: StoredForm) =>
  (await logOf(store, organizationId)).map(({ type }) => type)

const numberOfEvents = ({ organizationId }: StoredForm) => collections.events.count({ organizationId })

describe('a form with many pending events', () => {
  it('has them moved to the log by the writer of the next one', async () => {
    const form = await givenForm(store)
    for (let number = 1; number < maxPendingEvents; number++) {
      await store.update(refOf(form), (current) => edited(current, {}))
    }
    expect(await numberOfEvents(form)).toBe(0)
    expect(await store.events.backlog()).toMatchObject({ pending: maxPendingEvents })

    await publish(store, form)

    expect(await numberOfEvents(form)).toBe(maxPendingEvents)
    const { pendingEvents, eventNumber } = (await collections.forms.findOne(idsOf(form)))!
    expect(pendingEvents).toHaveLength(1)
    expect(eventNumber).toBe(maxPendingEvents + 1)
    expect(await store.events.backlog()).toMatchObject({ pending: 1, unstreamed: maxPendingEvents })
    expect((await typesOf(form)).at(-1)).toBe('form.published')
  })
})

describe('a form of release 0.1.0', () => {
  /** Without the fields of events, as that release stores it. */
  const givenOld = async () => {
    const form = newForm()
    const document = newFormDocument(form, randomUUID())
    await collections.forms.insert(document)
    return { form, document }
  }

  it('has events from its first change on', async () => {
    const { form } = await givenOld()

    await store.update(refOf(form), (current) => edited(current, {}))
    await publish(store, form)
    await store.delete(refOf(form), allow)

    expect(await typesOf(form)).toEqual(['form.updated', 'form.published', 'form.deleted'])
  })

  it('may be deleted at once', async () => {
    const { form } = await givenOld()

    expect(await store.delete(refOf(form), allow)).toBe(true)

    expect(await typesOf(form)).toEqual(['form.deleted'])
  })

  it('may change without an event meanwhile: a change of this release is repeated', async () => {
    const form = await givenForm(store)
    let isChanged = false
    const changed = await store.update(refOf(form), async (current) => {
      if (!isChanged) await collections.forms.set(idsOf(form), { version: 7 })
      isChanged = true
      return edited(current, {})
    })

    expect(changed).toMatchObject({ version: 8 })
    expect(await typesOf(form)).toEqual(['form.created', 'form.updated'])
  })

  it('never shows the revision of a killed publish', async () => {
    const { form, document } = await givenOld()
    const killed = newRevision(form, { number: 1 })
    await collections.revisions.insert(newRevisionDocument(killed, document.incarnation))
    const page = () => store.listRevisions({ ...refOf(form), limit: 10, skip: 0 })
    expect(await page()).toMatchObject({ revisions: [], totalSize: 0 })
    expect(await store.getRevision(refOf(form), killed.revisionId)).toBeUndefined()
    expect(await store.findRevisionOfCommand(form.organizationId, killed.commandId)).toBeUndefined()

    await publish(store, form)

    const { revisions, totalSize } = (await page())!
    expect(revisions.map(({ revision, live }) => [revision.number, live])).toEqual([[2, true]])
    expect(totalSize).toBe(1)
    expect(await store.getRevision(refOf(form), killed.revisionId)).toBeUndefined()
    const events = await logOf(store, form.organizationId)
    expect(events.map(({ data }) => data.number)).toEqual([2])
  })
})

const notesOf = ({ organizationId }: StoredForm) =>
  Array.fromAsync(collections.deletions.find({ organizationId }))

/** Fails the delete of a form after its note is stored. */
const refuseDeletes = ({ collection, operation }: { collection: string; operation: string }) => {
  if (collection === 'forms' && operation === 'delete') throw new Error('killed')
}

describe('notes of deletes', () => {
  /** A form that was deleted, with a second note, whose attempt saw the same state and lost, but for its fields. */
  const givenTwoNotes = async (
    fields: Partial<DeletionDocument>,
    lostFields: Partial<DeletionDocument> = {},
  ) => {
    await collectAll(store)
    const form = await givenForm(store)
    await using deleter = new MongoFormsStore(url, { clears: false })
    await deleter.delete(refOf(form), allow)
    const [note] = (await notesOf(form)) as [DeletionDocument]
    const [created, deleted] = [note.pendingEvents![0]!, note.pendingEvents![1]!]
    const id = randomUUID()
    const lost = { ...deleted, id, event: deleted.event.replace(deleted.id, id) }
    const earlier = { _id: randomUUID(), beginTime: note.beginTime - 1, isConfirmed: false }
    await collections.deletions.insert({ ...note, ...earlier, ...lostFields, pendingEvents: [created, lost] })
    await collections.deletions.set({ _id: note._id }, fields)
    return { form, won: deleted.id }
  }

  const lastId = async ({ organizationId }: StoredForm) =>
    (await store.events.read({ organizationId, descending: true, limit: 1 }))[0]?.id

  it('with the same event number: the confirmed one has the event of the delete', async () => {
    const { form, won } = await givenTwoNotes({})

    await collectAll(store)

    expect(await numberOfEvents(form)).toBe(2)
    expect(await lastId(form)).toBe(won)
  })

  it('with the same event number and another change number: the confirmed one has the event, too', async () => {
    const { form, won } = await givenTwoNotes({}, { changeNumber: 100 })

    await collectAll(store)

    expect(await numberOfEvents(form)).toBe(2)
    expect(await lastId(form)).toBe(won)
  })

  it('with the same event number, none confirmed: the latest one has it, after a while', async () => {
    const { form, won } = await givenTwoNotes({ isConfirmed: false })

    await collectAll(store)
    expect(await numberOfEvents(form)).toBe(0)
    await collectEvents(collections, 10, Date.now() + 60_000)

    expect(await numberOfEvents(form)).toBe(2)
    expect(await lastId(form)).toBe(won)
  })

  it('have no effect while the form exists', async () => {
    const form = await givenForm(store)
    // The note and the usage.
    await crashAfter(2, (crashing) => crashing.delete(refOf(form), allow))

    await collectAll(store)

    expect(await typesOf(form)).toEqual(['form.created'])
    await store.update(refOf(form), (current) => edited(current, {}))
    await store.delete(refOf(form), allow)
    expect(await typesOf(form)).toEqual(['form.created', 'form.updated', 'form.deleted'])
  })

  it('of attempts that were killed before the delete record no event', async () => {
    const form = await givenForm(store)
    const before = { actor: { operator: true } as const, httpRequestId: 'killed before the delete' }
    await crashAfter(2, (crashing) => crashing.delete(refOf(form), allow, before))
    await store.update(refOf(form), (current) => edited(current, {}))
    const after = { ...before, httpRequestId: 'killed after the delete' }
    const beforeWrite = ({ collection, operation }: { collection: string; operation: string }) => {
      if (collection === 'publicIds' || operation === 'set') throw new Error('killed')
    }
    await using killed = new MongoFormsStore(url, { clears: false }, { beforeWrite })
    await expect(killed.delete(refOf(form), allow, after)).rejects.toThrow('killed')
    expect(await store.get(refOf(form))).toBeUndefined()

    const log = await logOf(store, form.organizationId)

    expect(log.map(({ type }) => type)).toEqual(['form.created', 'form.updated', 'form.deleted'])
    expect(log[2]!.data).toMatchObject(after)
  })

  it('stay until their events are in the log, however often the form is cleared', async () => {
    const form = await givenForm(store)
    await using deleter = new MongoFormsStore(url, { clears: false })
    await deleter.delete(refOf(form), allow)
    const { signal } = new AbortController()
    for (const hours of [1, 2, 3]) await clearDeletions(collections, signal, Date.now() + hours * 3_600_000)
    expect(await notesOf(form)).toHaveLength(1)

    expect(await typesOf(form)).toEqual(['form.created', 'form.deleted'])
    await clearDeletions(collections, signal, Date.now() + 4 * 3_600_000)

    expect(await notesOf(form)).toEqual([])
  })
})

describe('a collection', () => {
  it('takes events of other organizations before all those of a large one', async () => {
    await collectAll(store)
    const organizationId = randomUUID()
    await atOnce(6, (index) => givenForm(store, { organizationId, createTime: time(index) }))
    const late = await givenForm(store, { createTime: time(1_000) })

    expect(await collectEvents(collections, 4)).toBe(4)

    expect(await numberOfEvents(late)).toBe(1)
    expect(await collections.events.count({ organizationId })).toBe(3)
    expect(await collectEvents(collections, 4)).toBe(3)
  })

  it('takes deletes of other organizations before all those of a large one', async () => {
    await collectAll(store)
    await using deleter = new MongoFormsStore(url, { clears: false })
    const organizationId = randomUUID()
    const many = await atOnce(6, () => givenForm(store, { organizationId }))
    const late = await givenForm(store)
    await collectAll(store)
    for (const form of [...many, late]) await deleter.delete(refOf(form), allow)
    // The latest one.
    const [note] = await notesOf(late)
    await collections.deletions.set({ _id: note!._id }, { collectTime: 2 })

    expect(await collectEvents(collections, 4)).toBe(4)

    expect(await numberOfEvents(late)).toBe(2)
    expect(await collections.events.count({ organizationId })).toBe(6 + 3)
  })

  it('says that there may be more when it cannot move all that it has found', async () => {
    await collectAll(store)
    const [kept, ...others] = await atOnce(3, () => givenForm(store))
    await using deleter = new MongoFormsStore(url, { clears: false })
    await using killed = new MongoFormsStore(url, { clears: false }, { beforeWrite: refuseDeletes })
    await expect(killed.delete(refOf(kept!), allow)).rejects.toThrow('killed')
    await collectAll(store)
    for (const form of others) await deleter.delete(refOf(form), allow)

    expect(await collectEvents(collections, 3, Date.now() + 600_000)).toBe(3)
  })

  it('does not wait for a slow organization', async () => {
    await collectAll(store)
    const forms = [await givenForm(store), await givenForm(store)]
    const slow = Promise.withResolvers<void>()
    let inserts = 0
    const beforeWrite = ({ collection }: { collection: string }) =>
      collection === 'events' && inserts++ === 0 ? slow.promise : undefined
    await using collector = new MongoFormsStore(url, { clears: false }, { beforeWrite })
    const counts = async () => (await Promise.all(forms.map(numberOfEvents))).sort()

    // One is moved, and one is in progress.
    expect(await collector.events.collect(10)).toBe(2)
    expect(await counts()).toEqual([0, 1])
    forms.push(await givenForm(store))
    expect(await collector.events.collect(10)).toBe(2)
    expect(await counts()).toEqual([0, 1, 1])

    slow.resolve()
    while ((await collector.events.collect(10)) > 0);
    expect(await counts()).toEqual([1, 1, 1])
  })

  it('leaves an organization out for a while after it has failed for it', async () => {
    await collectAll(store)
    const form = await givenForm(store)
    let inserts = 0
    const beforeWrite = ({ collection }: { collection: string }) => {
      if (collection === 'events' && inserts++ === 0) throw new Error('stuck')
    }
    await using collector = new MongoFormsStore(url, { clears: false }, { beforeWrite })

    await expect(collector.events.collect(10)).rejects.toThrow('stuck')
    expect(await collector.events.collect(10)).toBe(0)

    await vi.waitUntil(async () => (await collector.events.collect(10)) === 1, { timeout: 20_000 })
    expect(await numberOfEvents(form)).toBe(1)
  })

  it('appends an event whose id the log of another organization has', async () => {
    const [form, other] = [await givenForm(store), await givenForm(store)]
    const { pendingEvents } = (await collections.forms.findOne(idsOf(form)))!
    await collectAll(store)
    await store.update(refOf(other), (current) => edited(current, {}))
    const [event] = (await collections.forms.findOne(idsOf(other)))!.pendingEvents!
    const { id } = pendingEvents![0]!
    const same = { ...event!, id, event: event!.event.replace(event!.id, id) }
    await collections.forms.set(idsOf(other), { pendingEvents: [same] })

    await collectAll(store)

    expect(await store.events.get(other.organizationId, id)).toMatchObject({ id, type: 'form.updated' })
    expect(await store.events.get(form.organizationId, id)).toMatchObject({ id, type: 'form.created' })
  })

  it('continues with other organizations when it fails for one', async () => {
    await collectAll(store)
    const [stuck, other] = [await givenForm(store), await givenForm(store)]
    let inserts = 0
    const beforeWrite = ({ collection }: { collection: string }) => {
      if (collection === 'events' && inserts++ === 0) throw new Error('stuck')
    }
    await using database = new MongoDatabase(url, beforeWrite)

    await expect(collectEvents(formsCollections(database), 10)).rejects.toThrow('stuck')

    const counts = [await numberOfEvents(stuck), await numberOfEvents(other)]
    expect(counts.sort()).toEqual([0, 1])
    await collectAll(store)
    expect([await numberOfEvents(stuck), await numberOfEvents(other)]).toEqual([1, 1])
  })

  it('that moves events to later times makes a concurrent change read the form again', async () => {
    const form = await givenForm(store)
    const later = time(1_000).getTime()
    let attempts = 0
    await store.update(refOf(form), async (current) => {
      if (++attempts === 1) await collections.forms.set(idsOf(form), { eventTime: later })
      return edited(current, {})
    })

    expect(attempts).toBe(2)
    expect((await collections.forms.findOne(idsOf(form)))!.eventTime).toBeGreaterThan(later)
  })

  it('leaves the events that a form records meanwhile', async () => {
    // Only this form has pending events: the change comes before its events are moved.
    await collectAll(store)
    const form = await givenForm(store)
    let isChanged = false
    const beforeWrite = async ({ collection }: { collection: string }) => {
      if (collection !== 'events' || isChanged) return
      isChanged = true
      await store.update(refOf(form), (current) => edited(current, {}))
    }
    await using database = new MongoDatabase(url, beforeWrite)

    await collectEvents(formsCollections(database), 10)

    expect(await numberOfEvents(form)).toBe(1)
    expect(await collections.forms.findOne(idsOf(form))).toMatchObject({ eventNumber: 2, pendingCount: 1 })
    expect(await typesOf(form)).toEqual(['form.created', 'form.updated'])
  })
})
