import { randomUUID } from 'node:crypto'
import { formPath } from '@fms/contracts'
import { describe, expect, it } from 'vitest'
import type { FormMetadata, StoredForm } from '../forms-store.ts'
import { logOf } from './events/log-of.ts'
import {
  atOnce,
  givenForm,
  givenRevisions,
  newForm,
  type OpenStore,
  openStore,
  publish,
  refOf,
  snapshot,
} from './given.ts'

const allow = () => {}

/** Tests of unpublishes. */
export const unpublishContract = (open: OpenStore): void => {
  const store = openStore(open)

  const unpublish = (form: StoredForm) => store().unpublish(refOf(form), '', allow)

  const revisionsOf = async (form: StoredForm) => {
    const page = await store().listRevisions({ ...refOf(form), limit: 1000, skip: 0 })
    return page!.revisions.map(({ revision, live }) => [revision.number, live])
  }

  const givenPublished = async () => {
    const form = await givenForm(store())
    const first = await publish(store(), form)
    return { form, first, second: await publish(store(), form) }
  }

  it('takes live away, and leaves the draft and all revisions', async () => {
    const { form, second } = await givenPublished()

    expect(await unpublish(form)).toEqual(form)

    expect(await store().get(refOf(form))).toEqual(form)
    expect(await store().getRevision(refOf(form), 'live')).toBeUndefined()
    expect(await store().getRevisionState(refOf(form), 'live')).toBeUndefined()
    expect(await revisionsOf(form)).toEqual([
      [2, false],
      [1, false],
    ])
    const found = await store().getRevision(refOf(form), second.revisionId)
    expect(found).toMatchObject({ revision: second, live: false })
  })

  it('finds the form by its public id, and counts the replies of the form', async () => {
    const { form } = await givenPublished()
    await store().recordReplies({ ...form, replyIds: [randomUUID()] })

    const unpublished = await store().unpublish({ ...form, formRef: form.publicId }, '', allow)

    expect(unpublished).toEqual({ ...form, replyCount: 1 })
  })

  it('rejects a form that is not live: before the first publish, and after an unpublish', async () => {
    const form = await givenForm(store())
    const notLive = { reason: 'FORM_NOT_LIVE', status: 'FAILED_PRECONDITION' }

    await expect(unpublish(form)).rejects.toMatchObject(notLive)
    await publish(store(), form)
    await unpublish(form)
    await expect(unpublish(form)).rejects.toMatchObject(notLive)

    expect(await store().get(refOf(form))).toEqual(form)
  })

  it('changes nothing when its check refuses', async () => {
    const { form } = await givenPublished()
    const refusal = new Error('refused')
    const seen: FormMetadata[] = []
    const refuse = (current: FormMetadata) => {
      seen.push(current)
      throw refusal
    }

    await expect(store().unpublish(refOf(form), '', refuse)).rejects.toBe(refusal)

    expect(seen).toMatchObject([{ formId: form.formId, version: 1, live: true }])
    expect(await revisionsOf(form)).toEqual([
      [2, true],
      [1, false],
    ])
  })

  it('returns undefined for a form that does not exist', async () => {
    expect(await unpublish(newForm())).toBeUndefined()
  })

  describe('a publish after an unpublish', () => {
    it('makes the form live with the next number', async () => {
      const { form } = await givenPublished()
      await unpublish(form)

      expect(await store().publish(refOf(form), randomUUID(), snapshot)).toEqual({ ...form, live: true })

      expect(await revisionsOf(form)).toEqual([
        [3, true],
        [2, false],
        [1, false],
      ])
    })

    it('has no effect when it repeats an earlier command', async () => {
      const { form, first, second } = await givenPublished()
      await unpublish(form)

      for (const { commandId } of [first, second]) {
        expect(await store().publish(refOf(form), commandId, snapshot)).toEqual(form)
      }

      expect(await store().getMetadata(refOf(form))).toMatchObject({ live: false })
    })

    it('has no effect when it repeats the command of a stored revision that was never live', async () => {
      const { form, revisions } = await givenRevisions(store(), [1, 2, 3], 1)
      await unpublish(form)

      await store().publish(refOf(form), revisions[2]!.commandId, snapshot)

      expect(await store().getMetadata(refOf(form))).toMatchObject({ live: false })
    })

    it('has no effect when it repeats an earlier command in a copy of the form', async () => {
      const { form, second } = await givenPublished()
      await unpublish(form)
      const [record] = await Array.fromAsync(store().exportForms(form.organizationId))
      await store().delete(refOf(form), allow)

      expect(await store().importForm(record!)).toBe('imported')
      expect(await store().importForm(record!)).toBe('exists')
      await store().publish(refOf(form), second.commandId, snapshot)

      expect(await store().getMetadata(refOf(form))).toMatchObject({ live: false })
      expect(await Array.fromAsync(store().exportForms(form.organizationId))).toEqual([record])
    })
  })

  it('makes a concurrent publish take its snapshot again', async () => {
    const { form } = await givenPublished()
    const wasLive: boolean[] = []

    const published = await store().publish(refOf(form), randomUUID(), async (current) => {
      wasLive.push(current.live)
      // The other reference of the form: the mutex does not serialize the two changes.
      if (wasLive.length === 1) await store().unpublish({ ...form, formRef: form.publicId }, '', allow)
      return snapshot(current)
    })

    expect(published).toMatchObject({ live: true })
    expect(wasLive).toEqual([true, false])
    expect(await revisionsOf(form)).toEqual([
      [3, true],
      [2, false],
      [1, false],
    ])
  })

  it('keeps the order of events and states among concurrent publishes and unpublishes', async () => {
    const form = await givenForm(store())
    const take = (current: StoredForm) => snapshot(current)
    // The other reference of the form: the mutex does not serialize the two kinds of changes.
    const publicRef = { ...form, formRef: form.publicId }

    const [, unpublished] = await Promise.all([
      atOnce(12, () => store().publish(refOf(form), randomUUID(), take)),
      Promise.allSettled(Array.from({ length: 12 }, () => store().unpublish(publicRef, '', allow))),
    ])

    const log = (await logOf(store(), form.organizationId)).slice(1)
    const done = unpublished.filter(({ status }) => status === 'fulfilled')
    expect(log.filter(({ type }) => type === 'form.unpublished')).toHaveLength(done.length)
    expect(log.filter(({ type }) => type === 'form.published')).toHaveLength(12)
    let live: unknown
    for (const { type, data } of log) {
      // An unpublish names the revision that the publish before it has made live.
      if (type === 'form.unpublished') expect(data.revision).toBe(live)
      live = type === 'form.unpublished' ? undefined : data.revision
    }
    const found = await store().getRevision(refOf(form), 'live')
    expect(found && `${formPath(form)}/revisions/${found.revisionId}`).toBe(live)
  })
}
