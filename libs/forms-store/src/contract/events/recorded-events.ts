import { randomUUID } from 'node:crypto'
import {
  type EventData,
  FormDraft,
  FormEvent,
  type FormRecord,
  formPath,
  maxEventBytes,
  parseSequence,
} from '@fms/contracts'
import { describe, expect, it } from 'vitest'
import type { StoredForm } from '../../forms-store.ts'
import type { ChangeContext } from '../../identified-request.ts'
import { formETag } from '../../resource/form-to-json.ts'
import {
  atOnce,
  dryRun,
  edited,
  givenForm,
  givenRevisions,
  newForm,
  type OpenStore,
  openStore,
  publish,
  refOf,
  revisionOf,
  snapshot,
  time,
} from '../given.ts'
import { logOf } from './log-of.ts'

const allow = () => {}

const refuse = () => {
  throw new Error('Refused')
}

const operator = { actor: { operator: true }, httpRequestId: '' } as const

/** A change by a user with a key. */
const newContext = (): ChangeContext => ({
  actor: { user: `users/${randomUUID()}`, key: { id: randomUUID(), prefix: 'abcd1234' } },
  httpRequestId: `request-${randomUUID()}`,
})

/** Tests of which changes record which events. */
export const recordedEventsContract = (open: OpenStore): void => {
  const store = openStore(open)

  const typesOf = async ({ organizationId }: StoredForm) =>
    (await logOf(store(), organizationId)).map(({ type }) => type)

  const dataOf = async ({ organizationId }: StoredForm): Promise<EventData[]> =>
    (await logOf(store(), organizationId)).map(({ data }) => data)

  const exportOf = async ({ organizationId }: StoredForm): Promise<FormRecord> =>
    (await Array.fromAsync(store().exportForms(organizationId)))[0]!

  describe('a change', () => {
    it('records one event: a create', async () => {
      const form = newForm({ draft: { name: 'Intake' } })
      const context = newContext()

      await store().create(form, context)

      const log = await logOf(store(), form.organizationId)
      expect(log).toEqual([
        {
          specversion: '1.0',
          id: expect.any(String),
          source: `/v2/organizations/${form.organizationId}`,
          type: 'form.created',
          subject: formPath(form),
          time: form.createTime.toISOString(),
          datacontenttype: 'application/json',
          sequence: '0000000000000001',
          data: {
            form: formPath(form),
            publicId: form.publicId,
            name: 'Intake',
            etag: formETag(form),
            previousEtag: '',
            ...context,
          },
        },
      ])
      expect(FormEvent.parse(log[0])).toEqual(log[0])
    })

    it('records one event: an update, with the members that changed', async () => {
      const form = await givenForm(store(), { draft: { name: 'Before', context: ['same'] } })
      const context = newContext()
      const change = (current: StoredForm) => edited(current, { name: 'After', description: 'New' })

      const updated = await store().update(refOf(form), change, context)

      const [, event] = await logOf(store(), form.organizationId)
      const fields = event!.data.fields!.toSorted()
      expect(event).toMatchObject({ type: 'form.updated', subject: formPath(form) })
      expect({ ...event!.data, fields }).toEqual({
        form: formPath(form),
        publicId: form.publicId,
        name: 'After',
        etag: formETag(updated!),
        previousEtag: formETag(form),
        fields: ['description', 'name'],
        ...context,
      })
      expect(event!.time).toBe(updated!.updateTime.toISOString())
    })

    it('records one event: a publish, with the revision', async () => {
      const form = await givenForm(store())
      const [context, commandId] = [newContext(), randomUUID()]
      await publish(store(), form)

      await store().publish(refOf(form), commandId, snapshot, undefined, context)

      const revision = await revisionOf(store(), form.organizationId, commandId)
      const live = { ...form, live: true }
      const [, first, second] = await logOf(store(), form.organizationId)
      expect(first!.data).toMatchObject({ etag: formETag(live), previousEtag: formETag(form), ...operator })
      expect(second).toMatchObject({ type: 'form.published', subject: formPath(form) })
      expect(second!.data).toEqual({
        form: formPath(form),
        publicId: form.publicId,
        name: form.name,
        etag: formETag(live),
        previousEtag: formETag(live),
        revision: `${formPath(form)}/revisions/${revision!.revisionId}`,
        number: revision!.number,
        ...context,
      })
    })

    it('records one event: an unpublish, with the revision and the note', async () => {
      const form = await givenForm(store())
      const revision = await publish(store(), form)
      const live = { ...form, live: true }
      const context = newContext()

      await store().unpublish(refOf(form), 'The wrong price', allow, context)

      const event = (await logOf(store(), form.organizationId)).at(-1)!
      expect(event).toMatchObject({ type: 'form.unpublished', subject: formPath(form) })
      expect(event.data).toEqual({
        form: formPath(form),
        publicId: form.publicId,
        name: form.name,
        etag: formETag(form),
        previousEtag: formETag(live),
        revision: `${formPath(form)}/revisions/${revision.revisionId}`,
        number: 1,
        note: 'The wrong price',
        ...context,
      })
      await publish(store(), form)
      await store().unpublish(refOf(form), '', allow)
      const data = (await dataOf(form)).at(-1)!
      expect(data).toMatchObject({ number: 2, ...operator })
      expect(data).not.toHaveProperty('note')
    })

    it('records one event: a rollback, with the revision and the members that changed', async () => {
      const form = await givenForm(store(), { draft: { name: 'Before' } })
      const { revisionId, number } = await publish(store(), form)
      const context = newContext()
      const change = (current: StoredForm) => edited(current, { name: 'After' })

      const updated = await store().update(refOf(form), change, context, { revisionId, number })

      const event = (await logOf(store(), form.organizationId)).at(-1)!
      expect(event).toMatchObject({ type: 'form.rolledBack', subject: formPath(form) })
      expect(event.data).toEqual({
        form: formPath(form),
        publicId: form.publicId,
        name: 'After',
        etag: formETag(updated!),
        previousEtag: formETag({ ...form, live: true }),
        revision: `${formPath(form)}/revisions/${revisionId}`,
        number,
        fields: ['name'],
        ...context,
      })
    })

    it('records one event: a delete', async () => {
      const form = await givenForm(store(), { draft: { name: 'Last' } })
      await publish(store(), form)
      const context = newContext()

      await store().delete(refOf(form), allow, context)

      const event = (await logOf(store(), form.organizationId)).at(-1)
      expect(event).toMatchObject({ type: 'form.deleted', subject: formPath(form) })
      expect(event!.data).toEqual({
        form: formPath(form),
        publicId: form.publicId,
        name: 'Last',
        etag: '',
        previousEtag: formETag({ ...form, live: true }),
        ...context,
      })
    })

    it('records one event: an import, by an operator', async () => {
      const { form } = await givenRevisions(store(), [1, 2], 2)

      const [event, ...others] = await logOf(store(), form.organizationId)
      expect(others).toEqual([])
      expect(event).toMatchObject({ type: 'form.imported', subject: formPath(form) })
      expect(event!.data).toEqual({
        form: formPath(form),
        publicId: form.publicId,
        name: form.name,
        etag: formETag(form),
        previousEtag: '',
        ...operator,
      })
    })

    it('records an event with the replies so far in its ETags', async () => {
      const form = await givenForm(store())
      await store().recordReplies({ ...form, replyIds: [randomUUID()] })

      await store().update(refOf(form), (current) => edited(current, { name: 'New' }))
      await publish(store(), form)

      const [, updated, published] = await dataOf(form)
      const after = { ...form, version: 2, replyCount: 1 }
      expect(updated).toMatchObject({
        previousEtag: formETag({ ...form, replyCount: 1 }),
        etag: formETag(after),
      })
      expect(published).toMatchObject({
        previousEtag: formETag(after),
        etag: formETag({ ...after, live: true }),
      })
    })

    it('is by an operator without a context', async () => {
      const form = await givenForm(store())
      await store().update(refOf(form), (current) => edited(current, {}))
      await publish(store(), form)
      await store().delete(refOf(form), allow)

      const data = await dataOf(form)

      expect(data.map(({ actor, httpRequestId }) => ({ actor, httpRequestId }))).toEqual(
        Array(4).fill(operator),
      )
    })

    it('has an event of at most 4 KiB: the longest name and request id, every member changed', async () => {
      const form = await givenForm(store())
      const name = '\u0001'.repeat(200)
      const draft = FormDraft.parse({
        name,
        description: 'd',
        tone: 't',
        defaultMode: 'voice',
        context: ['c'],
        maxFollowUpQuestions: 9,
      })
      const context = { ...newContext(), httpRequestId: '"'.repeat(128) }

      await store().update(refOf(form), (current) => edited(current, draft), context)

      const [, event] = await logOf(store(), form.organizationId)
      expect(event!.data).toMatchObject({ name, httpRequestId: context.httpRequestId })
      expect(Buffer.byteLength(JSON.stringify(event))).toBeLessThanOrEqual(maxEventBytes)
    })
  })

  describe('no event', () => {
    it('is recorded when a change changes nothing, is refused or fails', async () => {
      const form = await givenForm(store())
      const ref = refOf(form)

      await store().update(ref, (current) => current)
      await expect(store().update(ref, refuse)).rejects.toThrow('Refused')
      await expect(store().delete(ref, refuse)).rejects.toThrow('Refused')
      await expect(store().publish(ref, randomUUID(), refuse)).rejects.toThrow('Refused')
      await expect(store().publish(ref, randomUUID(), snapshot, refuse)).rejects.toThrow('Refused')
      const { organizationId, publicId } = form
      expect(await store().create(newForm({ organizationId, publicId }))).toBeUndefined()

      expect(await typesOf(form)).toEqual(['form.created'])
      expect(await store().events.range(organizationId)).toEqual({ oldestSequence: 1, lastSequence: 1 })
    })

    it('is recorded when a quota rejects the change', async () => {
      await using limited = await open({ quota: { forms: 1, bytes: 6_000 } })
      const form = await givenForm(limited)
      const { organizationId } = form
      const exceeded = { reason: 'QUOTA_EXCEEDED' }
      const context = ['x'.repeat(6_000)]

      await expect(limited.create(newForm({ organizationId }))).rejects.toMatchObject(exceeded)
      const change = (current: StoredForm) => edited(current, { context })
      await expect(limited.update(refOf(form), change)).rejects.toMatchObject(exceeded)
      const large = (current: StoredForm) => ({ ...snapshot(current), formJson: JSON.stringify({ context }) })
      await expect(limited.publish(refOf(form), randomUUID(), large)).rejects.toMatchObject(exceeded)

      expect((await logOf(limited, organizationId)).map(({ type }) => type)).toEqual(['form.created'])
    })

    it('is recorded for a form that does not exist', async () => {
      const form = newForm()
      const ref = refOf(form)

      expect(await store().update(ref, (current) => edited(current, {}))).toBeUndefined()
      expect(await store().publish(ref, randomUUID(), snapshot)).toBeUndefined()
      expect(await store().delete(ref, allow)).toBe(false)

      expect(await typesOf(form)).toEqual([])
      expect(await store().events.range(form.organizationId)).toEqual({ oldestSequence: 1, lastSequence: 0 })
    })

    it('is recorded for replies, dry runs and reads', async () => {
      const form = await givenForm(store())

      await store().recordReplies({ ...form, replyIds: [randomUUID()] })
      await store().create(newForm({ organizationId: form.organizationId }), dryRun)
      await store().update(refOf(form), (current) => edited(current, { name: 'Dry' }), dryRun)
      expect(await store().delete(refOf(form), allow, dryRun)).toBe(true)
      await store().list({ ...form, orderBy: [], limit: 10, skip: 0 })

      expect(await typesOf(form)).toEqual(['form.created'])
    })

    it('is recorded for an import that finds the form, or that records no event', async () => {
      const form = await givenForm(store())
      const record = await exportOf(form)
      await store().delete(refOf(form), allow)

      expect(await store().importForm(record, { recordsEvent: false })).toBe('imported')
      expect(await store().importForm(record)).toBe('exists')

      expect(await typesOf(form)).toEqual(['form.created', 'form.deleted'])
      await store().update(refOf(form), (current) => edited(current, {}))
      expect(await typesOf(form)).toEqual(['form.created', 'form.deleted', 'form.updated'])
    })
  })

  describe('a publish', () => {
    it('has one event for any number of calls with its command', async () => {
      const form = await givenForm(store())
      const command = randomUUID()

      await atOnce(5, () => publish(store(), form, command))
      await publish(store(), form, command)

      expect(await typesOf(form)).toEqual(['form.created', 'form.published'])
    })

    it('of an imported revision has one event once the revision is live', async () => {
      const { form, revisions } = await givenRevisions(store(), [1, 2, 3], 1)
      const context = newContext()
      const finish = (index: number) =>
        store().publish(refOf(form), revisions[index]!.commandId, snapshot, undefined, context)

      await finish(2)
      // A later revision is live.
      await finish(1)
      await finish(2)

      const [, event, ...others] = await logOf(store(), form.organizationId)
      expect(others).toEqual([])
      expect(event).toMatchObject({ type: 'form.published' })
      expect(event!.data).toMatchObject({
        revision: `${formPath(form)}/revisions/${revisions[2]!.revisionId}`,
        number: 3,
        ...context,
      })
    })
  })

  describe('events of a form', () => {
    it('have increasing times, whatever the clocks, also after a delete and under the same id', async () => {
      const form = await givenForm(store(), { createTime: time(1_000) })
      const earlier = (current: StoredForm) => ({ ...edited(current, {}), updateTime: time(0) })

      await store().update(refOf(form), earlier)
      await store().publish(refOf(form), randomUUID(), (current) => ({
        ...snapshot(current),
        createTime: time(-1_000),
      }))
      const record = await exportOf(form)
      await store().delete(refOf(form), allow)
      await store().importForm(record)
      await store().delete(refOf(form), allow)
      await store().create({ ...form, createTime: time(-2_000) }, undefined, { idChosenByClient: true })

      const log = await logOf(store(), form.organizationId)
      expect(log.map(({ type }) => type)).toEqual([
        'form.created',
        'form.updated',
        'form.published',
        'form.deleted',
        'form.imported',
        'form.deleted',
        'form.created',
      ])
      const times = log.map((event) => Date.parse(event.time))
      expect(times.slice(1).filter((each, index) => each <= times[index]!)).toEqual([])
      expect(log[1]!.time).toBe(time(1_001).toISOString())
    })

    it('have unique ids', async () => {
      const form = await givenForm(store())
      await atOnce(10, () => store().update(refOf(form), (current) => edited(current, {})))

      const log = await logOf(store(), form.organizationId)

      expect(new Set(log.map(({ id }) => id)).size).toBe(11)
    })
  })

  it('numbers the events of each organization from 1 without gaps', async () => {
    const [one, other] = [randomUUID(), randomUUID()]

    await atOnce(20, (index) =>
      givenForm(store(), { organizationId: index % 4 === 0 ? other : one, createTime: time(index) }),
    )

    for (const [organizationId, count] of [
      [one, 15],
      [other, 5],
    ] as const) {
      const log = await logOf(store(), organizationId)
      expect(log.map(({ sequence }) => parseSequence(sequence))).toEqual(
        Array.from({ length: count }, (_, index) => index + 1),
      )
      expect(new Set(log.map(({ source }) => source))).toEqual(
        new Set([`/v2/organizations/${organizationId}`]),
      )
    }
  })

  it('calls onRecorded once an event is recorded, and only then', async () => {
    const organizationId = randomUUID()
    const seen: Promise<unknown>[] = []
    await using waking = await open({
      onRecorded: () => {
        seen.push(logOf(waking, organizationId).then((log) => log.length))
      },
    })
    const form = await givenForm(waking, { organizationId })
    const change = (current: StoredForm) => edited(current, {})

    await waking.update(refOf(form), (current) => current)
    await waking.recordReplies({ ...form, replyIds: [randomUUID()] })
    expect(await Promise.all(seen)).toEqual([1])
    await waking.update(refOf(form), change)
    expect(await Promise.all(seen)).toEqual([1, 2])
    await publish(waking, form)
    expect(await Promise.all(seen)).toEqual([1, 2, 3])
    await waking.delete(refOf(form), allow)
    expect(await Promise.all(seen)).toEqual([1, 2, 3, 4])
  })
}
