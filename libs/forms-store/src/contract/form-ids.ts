import { randomUUID } from 'node:crypto'
import { formPath } from '@fms/contracts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { FormsStore, StoredForm } from '../forms-store.ts'
import { logOf } from './events/log-of.ts'
import {
  atOnce,
  edited,
  exported,
  givenForm,
  newForm,
  type OpenStore,
  openStore,
  publish,
  refOf,
  snapshot,
  time,
} from './given.ts'
import { type EngineLimits, numberOfRuns } from './hostile-names.ts'

const allow = () => {}

const taken = (form: StoredForm) => ({
  status: 'ALREADY_EXISTS',
  reason: 'FORM_ID_TAKEN',
  parts: { metadata: { form: formPath(form), deleted: 'false' } },
})

/** Tests of form ids that clients choose: unique in their organization. @param open opens the same store each time. */
export const formIdsContract = (open: OpenStore, limits: EngineLimits): void => {
  const numRuns = numberOfRuns(limits, 20, 3)
  const store = openStore(open)
  const restoring = openStore(open, { deletedFormsDays: 30 })

  const createWithId = (form: StoredForm) => store().create(form, undefined, { idChosenByClient: true })

  /** Forms with one id in two organizations, each with a revision and a reply. */
  const givenTwins = async (): Promise<[StoredForm, StoredForm]> => {
    const formId = randomUUID()
    const twins = [newForm({ formId }), newForm({ formId })] as [StoredForm, StoredForm]
    for (const form of twins) {
      expect(await createWithId(form)).toEqual(form)
      await publish(store(), form)
      await store().recordReplies({ ...form, replyIds: [randomUUID()] })
    }
    return twins
  }

  describe('a form with an id of its client', () => {
    it('is stored, and found by this id', async () => {
      const form = newForm()

      expect(await createWithId(form)).toEqual(form)

      for (const formRef of [form.formId, form.formId.toUpperCase(), form.publicId]) {
        expect(await store().get({ ...form, formRef })).toEqual(form)
      }
      expect(await store().findOrganizationOf(form.publicId)).toBe(form.organizationId)
    })

    it('is refused where the organization has a form with this id, and changes nothing', async () => {
      const form = await givenForm(store())
      const chosen = newForm()
      await createWithId(chosen)

      for (const { organizationId, formId } of [form, chosen]) {
        const late = createWithId(newForm({ organizationId, formId }))
        await expect(late).rejects.toMatchObject(taken({ ...form, organizationId, formId }))
      }

      expect(await store().get(refOf(form))).toEqual(form)
      expect(await store().get(refOf(chosen))).toEqual(chosen)
      expect(await store().usage(form.organizationId)).toMatchObject({ forms: 1 })
    })

    it('is created once by many concurrent creates', async () => {
      const { organizationId, formId } = newForm()

      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, () => createWithId(newForm({ organizationId, formId }))),
      )

      const created = outcomes.filter((outcome) => outcome.status === 'fulfilled')
      expect(created).toHaveLength(1)
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ reason: 'FORM_ID_TAKEN' })
      }
      const page = await store().list({ organizationId, orderBy: [], limit: 10, skip: 0 })
      expect(page.forms).toEqual(created.map(({ value }) => value))
      expect(await logOf(store(), organizationId)).toHaveLength(1)
    })

    it('can be created again after it was deleted for good', async () => {
      const form = newForm()
      await createWithId(form)
      await publish(store(), form)
      await store().delete(refOf(form), allow)

      const again = newForm({ organizationId: form.organizationId, formId: form.formId })
      expect(await createWithId(again)).toEqual(again)

      expect(await store().get(refOf(again))).toEqual(again)
      expect(await store().getRevision(refOf(again), 'latest')).toBeUndefined()
      const times = (await logOf(store(), form.organizationId)).map(({ type, time }) => `${time} ${type}`)
      expect(times.map((each) => each.split(' ')[1])).toEqual([
        'form.created',
        'form.published',
        'form.deleted',
        'form.created',
      ])
      expect(times).toEqual(times.toSorted())
    })

    it('can be imported where another organization has a form with this id', async () => {
      const [form, twin] = await givenTwins()
      const [record] = await exported(store(), form.organizationId)
      await store().delete(refOf(form), allow)

      expect(await store().importForm(record!)).toBe('imported')
      expect(await store().importForm(record!)).toBe('exists')

      expect(await exported(store(), form.organizationId)).toEqual([record])
      expect(await exported(store(), twin.organizationId)).toHaveLength(1)
    })
  })

  describe('two organizations that have forms with the same id', () => {
    /** Everything that the store has of an organization. */
    const stateOf = async (organizationId: string) => ({
      records: JSON.stringify(await exported(store(), organizationId)),
      log: await logOf(store(), organizationId),
      usage: await store().usage(organizationId),
    })

    const changes: Record<string, (forms: FormsStore, form: StoredForm) => Promise<unknown>> = {
      create: (forms, { organizationId }) =>
        forms.create(newForm({ organizationId }), undefined, { idChosenByClient: true }),
      'create, taken': (forms, { organizationId, formId }) =>
        forms
          .create(newForm({ organizationId, formId }), undefined, { idChosenByClient: true })
          .catch((error: unknown) => expect(error).toMatchObject({ reason: 'FORM_ID_TAKEN' })),
      update: (forms, form) => forms.update(refOf(form), (current) => edited(current, { name: 'Changed' })),
      rollback: (forms, form) =>
        forms.update(refOf(form), (current) => edited(current, { name: 'Restored' }), undefined, {
          revisionId: randomUUID(),
          number: 1,
        }),
      publish: (forms, form) => forms.publish(refOf(form), randomUUID(), snapshot),
      unpublish: (forms, form) =>
        forms
          .unpublish(refOf(form), '', allow)
          .catch((error: unknown) => expect(error).toMatchObject({ reason: 'FORM_NOT_LIVE' })),
      recordReplies: (forms, form) => forms.recordReplies({ ...form, replyIds: [randomUUID()] }),
      prune: (forms, form) =>
        forms.revisionGrowth.prune(form, { keep: 1, before: new Date(Date.now() + 1_000_000) }),
      delete: (forms, form) => forms.delete(refOf(form), allow),
      'delete, restorable': (_, form) => restoring().delete(refOf(form), allow),
      undelete: (forms, form) => forms.undelete(refOf(form), allow),
      purge: (forms, form) => forms.purge(refOf(form), allow),
      move: async (forms, form) => {
        const record = (await exported(forms, form.organizationId)).find(
          ({ formId }) => formId === form.formId,
        )
        if (!record || record.deletion || !(await forms.delete(refOf(form), allow))) return
        await forms.importForm(record)
      },
    }
    const names = Object.keys(changes)

    const deleteRestorably = (form: StoredForm) => restoring().delete(refOf(form), allow)

    /** What some changes need to change something. */
    const preparations: Record<string, (form: StoredForm) => Promise<unknown>> = {
      prune: async (form) => (await store().getMetadata(refOf(form))) && publish(store(), form),
      undelete: deleteRestorably,
      purge: deleteRestorably,
    }

    it.each(names)('change one without the other: %s', async (name) => {
      const [form, twin] = await givenTwins()
      await preparations[name]?.(form)
      const [own, other] = [await stateOf(form.organizationId), await stateOf(twin.organizationId)]

      await changes[name]!(store(), form)

      expect(await stateOf(twin.organizationId)).toEqual(other)
      if (name === 'create, taken') expect(await stateOf(form.organizationId)).toEqual(own)
      else expect(await stateOf(form.organizationId)).not.toEqual(own)
    })

    it('change one without the other, whatever the changes', async () => {
      const property = fc.asyncProperty(
        fc.array(fc.constantFrom(...names), { minLength: 3, maxLength: 10 }),
        async (sequence) => {
          const [form, twin] = await givenTwins()
          const before = await stateOf(twin.organizationId)
          for (const name of sequence) {
            await preparations[name]?.(form)
            await changes[name]!(store(), form)
          }
          expect(await stateOf(twin.organizationId)).toEqual(before)
        },
      )
      await fc.assert(property, { numRuns })
    })

    it('read their own', async () => {
      const [form, twin] = await givenTwins()
      await store().update(refOf(form), (current) => edited(current, { name: 'Mine' }))
      await publish(store(), form)
      const mine = (await store().get(refOf(form)))!
      const theirs = (await store().get(refOf(twin)))!

      expect([mine.name, theirs.name]).toEqual(['Mine', 'Untitled form'])
      expect([mine.publicId, theirs.publicId]).toEqual([form.publicId, twin.publicId])
      for (const each of [mine, theirs]) {
        const { organizationId } = each
        const ref = refOf(each)
        const { version, live } = (await store().getMetadata(ref))!
        expect({ version, live }).toEqual({ version: each.version, live: true })
        const page = await store().listRevisions({ ...ref, limit: 10, skip: 0 })
        expect(page!.totalSize).toBe(each === mine ? 2 : 1)
        for (const revisionRef of ['live', 'latest']) {
          const found = (await store().getRevision(ref, revisionRef))!
          expect(found.revision.organizationId).toBe(organizationId)
          expect(found.revision.number).toBe(each === mine ? 2 : 1)
        }
        const rule = { keep: 1, before: time(1_000_000_000) }
        const prunable = await store().revisionGrowth.prunable(each, rule)
        expect(prunable.revisions).toBe(each === mine ? 1 : 0)
      }
      const other = (await store().getRevision(refOf(twin), 'live'))!.revision
      expect(await store().getRevision(refOf(form), other.revisionId)).toBeUndefined()
    })

    it('count the same reply once for each', async () => {
      const [form, twin] = await givenTwins()
      const replyIds = [randomUUID()]

      for (const each of [form, twin, form]) await store().recordReplies({ ...each, replyIds })

      for (const each of [form, twin]) expect(await store().get(refOf(each))).toMatchObject({ replyCount: 2 })
    })

    it('publish with the same command, each for itself', async () => {
      const [form, twin] = await givenTwins()
      const commandId = randomUUID()

      await atOnce(4, (index) => store().publish(refOf(index % 2 ? form : twin), commandId, snapshot))

      for (const each of [form, twin]) {
        const { revision } = (await store().getRevision(refOf(each), 'live'))!
        expect(revision).toMatchObject({ commandId, number: 2, organizationId: each.organizationId })
      }
    })
  })
}
