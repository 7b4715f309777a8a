import { randomUUID } from 'node:crypto'
import { maxEventBytes } from '@fms/contracts'
import { anyCharacter } from '@fms/testkit/any-character'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import type { FormsStore, StoredForm, Usage } from '../forms-store.ts'
import type { ChangeContext } from '../identified-request.ts'
import { toFormRecord } from '../stored-form-record.ts'
import { logBytesOf, logOf } from './events/log-of.ts'
import {
  atOnce,
  dryRun,
  edited,
  givenForm,
  newForm,
  newRevision,
  type OpenStore,
  openStore,
  publish,
  refOf,
  snapshot,
} from './given.ts'
import { type EngineLimits, numberOfRuns } from './hostile-names.ts'

const allow = () => {}
const later = new Date('2100-01-01T00:00:00Z')
const byteLength = (value: unknown) => Buffer.byteLength(JSON.stringify(value))
const size = Buffer.byteLength(newForm().draftJson)

/** The usage of an organization, computed from an export and its log. */
const truthOf = async (store: FormsStore, organizationId: string): Promise<Usage> => {
  const records = await Array.fromAsync(store.exportForms(organizationId))
  const documents = records.flatMap(({ draft, revisions }) => [draft, ...revisions.map(({ form }) => form)])
  return {
    forms: records.filter(({ deletion }) => !deletion).length,
    bytes: documents.reduce((sum, each) => sum + byteLength(each), await logBytesOf(store, organizationId)),
  }
}

/** Resolves once the usage is exact, after deleted forms are cleared. */
const expectTruth = (store: FormsStore, organizationId: string) =>
  vi.waitFor(
    async () => expect(await store.usage(organizationId)).toEqual(await truthOf(store, organizationId)),
    { timeout: 10_000 },
  )

const refusal = (quota: string, limit: number, used: number) => ({
  status: 'RESOURCE_EXHAUSTED',
  reason: 'QUOTA_EXCEEDED',
  httpStatus: 429,
  parts: { metadata: expect.objectContaining({ quota, limit: `${limit}`, used: `${used}` }) },
})

/** Tests of usage and quotas. */
export const quotasContract = (open: OpenStore, limits: EngineLimits): void => {
  const numRuns = numberOfRuns(limits, 15, 8)

  describe('usage', () => {
    const store = openStore(open)

    it('is nothing for an organization without forms', async () => {
      expect(await store().usage(randomUUID())).toEqual({ forms: 0, bytes: 0 })
    })

    it('counts drafts, revisions and events in UTF-8, also before the events are in the log', async () => {
      const form = await givenForm(store(), { draft: { name: 'Größe 😀' } })
      const { organizationId } = form
      const revision = await publish(store(), form)
      const usage = await store().usage(organizationId)

      const content = Buffer.byteLength(form.draftJson) + Buffer.byteLength(revision.formJson)
      const bytes = content + (await logBytesOf(store(), organizationId))
      expect(usage).toEqual({ forms: 1, bytes })
      expect(await store().usage(organizationId)).toEqual(usage)
    })

    it('counts events until retention deletes them, and copied ones', async () => {
      const form = await givenForm(store())
      const { organizationId } = form
      for (const name of ['First', 'Größe'])
        await store().update(refOf(form), (current) => edited(current, { name }))
      const log = await logOf(store(), organizationId)
      await store().events.markStreamed(organizationId, 3)

      expect(await store().events.prune(new Date(log[1]!.time), 10)).toBe(1)
      await expectTruth(store(), organizationId)
      expect(await store().events.prune(later, 10)).toBe(1)
      await expectTruth(store(), organizationId)

      const copy = randomUUID()
      for (const event of log.slice(1))
        await store().events.importEvent(JSON.parse(JSON.stringify(event).replaceAll(organizationId, copy)))
      await expectTruth(store(), copy)
      expect(await store().usage(copy)).toEqual({ forms: 0, bytes: byteLength(log[1]) + byteLength(log[2]) })
      await givenForm(store(), { organizationId: copy })
      await expectTruth(store(), copy)
    })

    it('is exact after any sequential or concurrent changes, repeats and rejections', async () => {
      const step = fc.record({
        kind: fc.constantFrom('create', 'patch', 'publish', 'repeat', 'refuse', 'reply', 'delete', 'move'),
        form: fc.nat(3),
        name: fc.string({ maxLength: 30, unit: anyCharacter }).map((text) => `Name ${text}`),
      })
      const steps = fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { maxLength: 8 })

      await fc.assert(
        fc.asyncProperty(steps, async (rounds) => {
          const organizationId = randomUUID()
          const forms = await atOnce(3, () => givenForm(store(), { organizationId }))
          const commandId = randomUUID()
          const steps = {
            create: async (_: StoredForm, name: string) => {
              await givenForm(store(), { organizationId, draft: { name } })
            },
            patch: (form: StoredForm, name: string) =>
              store().update(refOf(form), (current) => edited(current, { name })),
            publish: (form: StoredForm) => store().publish(refOf(form), randomUUID(), snapshot),
            repeat: (form: StoredForm) => store().publish(refOf(form), commandId, snapshot),
            refuse: (form: StoredForm) =>
              store().create({ ...newForm({ organizationId }), ...publicIdOf(form) }),
            reply: (form: StoredForm) => store().recordReplies({ ...form, replyIds: [randomUUID()] }),
            delete: (form: StoredForm) => store().delete(refOf(form), allow),
            move: async (form: StoredForm) => {
              const records = await Array.fromAsync(store().exportForms(organizationId))
              const record = records.find(({ formId }) => formId === form.formId)
              if (!record || !(await store().delete(refOf(form), allow))) return
              await store().importForm(record)
            },
          }

          for (const round of rounds) {
            const changes = round.map(({ kind, form, name }) => steps[kind](forms[form % 3]!, name))
            await Promise.all(changes.map((change) => Promise.resolve(change).catch(unlessConflict)))
          }

          await expectTruth(store(), organizationId)
        }),
        { numRuns, endOnFailure: true },
      )
    })
  })

  it('is not changed by a dry publish with the command of a form that is gone', async () => {
    await using store = await open({ clears: false })
    const form = await givenForm(store)
    const { organizationId } = form
    const other = await givenForm(store, { organizationId })
    const commandId = randomUUID()
    await store.publish(refOf(form), commandId, snapshot)
    await store.delete(refOf(form), allow)
    const used = await store.usage(organizationId)

    await store.publish(refOf(other), commandId, snapshot, undefined, dryRun)

    expect(await store.usage(organizationId)).toEqual(used)
  })

  describe('a quota of forms', () => {
    const store = openStore(open, { quota: { forms: 3, bytes: 0 } })

    it('rejects further forms, also concurrent ones, until one is deleted', async () => {
      const { organizationId } = newForm()
      const made = await Promise.allSettled(
        Array.from({ length: 8 }, () => givenForm(store(), { organizationId })),
      )

      expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
      const refused = refusal('forms', 3, 3)
      for (const outcome of made) {
        if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject(refused)
      }
      expect((await truthOf(store(), organizationId)).forms).toBe(3)
      const wouldCreate = () => store().create(newForm({ organizationId }), dryRun)
      await expect(wouldCreate()).rejects.toMatchObject(refused)

      const { forms } = await store().list({ organizationId, orderBy: [], limit: 1, skip: 0 })
      await store().delete({ organizationId, formRef: forms[0]!.formId }, allow)
      await wouldCreate()
      await givenForm(store(), { organizationId })
    })

    it('is per organization, and rejects no change or publish of existing forms', async () => {
      const { organizationId } = newForm()
      const [form] = await atOnce(3, () => givenForm(store(), { organizationId }))

      await givenForm(store())
      await store().update(refOf(form!), (current) => edited(current, { name: 'A longer name than before' }))
      expect(await publish(store(), form!)).toMatchObject({ number: 1 })
    })

    it('rejects no import', async () => {
      const { organizationId } = newForm()
      const [form] = await atOnce(3, () => givenForm(store(), { organizationId }))
      const [record] = await Array.fromAsync(store().exportForms(organizationId))
      await store().delete(refOf({ ...form!, formId: record!.formId }), allow)
      await givenForm(store(), { organizationId })

      expect(await store().importForm(record!)).toBe('imported')
      expect((await store().usage(organizationId)).forms).toBe(4)
    })
  })

  describe('a quota of bytes', () => {
    // Changes that store something need room for the largest event.
    const limit = 4 * size + 300 + maxEventBytes
    const store = openStore(open, { quota: { forms: 0, bytes: limit } })

    it('rejects growth beyond it, and leaves everything unchanged', async () => {
      const form = await givenForm(store())
      const { organizationId } = form
      const longer = (name: string) => (current: StoredForm) => edited(current, { name })
      // A revision has more members than a draft.
      await givenForm(store(), { organizationId })
      const used = 2 * size + (await logBytesOf(store(), organizationId))
      const refused = refusal('bytes', limit, used)

      await expect(publish(store(), form)).rejects.toMatchObject(refused)
      await expect(
        store().update(refOf(form), (current) => edited(current, { context: ['x'.repeat(2 * size)] })),
      ).rejects.toMatchObject(refused)
      const large = { organizationId, draft: { name: 'x'.repeat(100) } }
      await expect(givenForm(store(), large)).rejects.toMatchObject(refused)

      expect(await store().usage(organizationId)).toEqual({ forms: 2, bytes: used })
      expect(await store().get(refOf(form))).toEqual(form)
      expect(await truthOf(store(), organizationId)).toEqual({ forms: 2, bytes: used })
      // Changes without growth pass, and growth within the quota.
      await store().update(refOf(form), longer('Short'))
      await store().update(refOf(form), longer('Short again'))
    })

    it('rejects no shrinking change and no delete of an organization over its quota', async () => {
      const form = await givenTooLarge(store())

      const half = (current: StoredForm) => edited(current, { context: ['x'.repeat(10_000)] })
      expect(await store().update(refOf(form), half, dryRun)).toMatchObject({ version: 2 })
      expect(await store().update(refOf(form), half)).toMatchObject({ version: 2 })
      expect(await store().delete(refOf(form), allow)).toBe(true)
      await expectTruth(store(), form.organizationId)
    })

    it('rejects no unpublish, undelete and purge, although their events count', async () => {
      await using restoring = await open({ quota: { forms: 0, bytes: limit }, deletedFormsDays: 30 })
      const form = await givenTooLarge(restoring, true)
      const { organizationId } = form
      const ref = refOf(form)

      await restoring.unpublish(ref, 'A note', allow)
      await restoring.delete(ref, allow)
      await restoring.undelete(ref, allow, dryRun)
      await restoring.undelete(ref, allow)
      await expectTruth(restoring, organizationId)
      await restoring.delete(ref, allow)
      await restoring.purge(ref, allow)

      expect((await logOf(restoring, organizationId)).map(({ type }) => type)).toEqual(
        ['imported', 'unpublished', 'deleted', 'undeleted', 'deleted', 'purged'].map(
          (verb) => `form.${verb}`,
        ),
      )
      await expectTruth(restoring, organizationId)
    })

    it('brings patches that keep the size of a draft to an end, until retention deletes their events', async () => {
      const form = await givenForm(store(), { draft: { name: 'Name 00' } })
      const { organizationId } = form
      const rename = (name: string, context?: ChangeContext) =>
        store().update(refOf(form), (current) => edited(current, { name }), context)
      let renamed = 0
      const renameAll = async () => {
        for (; renamed < 99; renamed++) await rename(`Name ${10 + renamed}`)
      }
      await expect(renameAll()).rejects.toMatchObject({ reason: 'QUOTA_EXCEEDED' })

      expect(renamed).toBeGreaterThan(0)
      const { bytes } = await store().usage(organizationId)
      expect(bytes).toBeLessThanOrEqual(limit)
      await expectTruth(store(), organizationId)
      await expect(rename('Eman 98', dryRun)).rejects.toMatchObject({ reason: 'QUOTA_EXCEEDED' })
      const shorter = await rename('Name')
      expect(shorter?.name).toBe('Name')
      await expectTruth(store(), organizationId)

      await store().events.markStreamed(organizationId, renamed + 2)
      expect(await store().events.prune(later, 100)).toBe(renamed + 1)
      await rename('Eman')
      await expectTruth(store(), organizationId)
    })

    it('is available again once the revisions of a deleted form are cleared', async () => {
      const form = await givenForm(store())
      const { organizationId } = form
      await publish(store(), form)
      await expect(givenForm(store(), { organizationId })).rejects.toMatchObject({ reason: 'QUOTA_EXCEEDED' })

      await store().delete(refOf(form), allow)

      await expectTruth(store(), organizationId)
      await givenForm(store(), { organizationId })
    })
  })
}

/** A form that is larger than the quota: imports are not limited. */
const givenTooLarge = async (store: FormsStore, isLive = false): Promise<StoredForm> => {
  const form = newForm({ draft: { context: ['x'.repeat(20_000)] }, live: isLive })
  const revision = newRevision(form)
  const live = {
    revisionNumber: 1,
    liveNumber: 1,
    liveRevisionId: revision.revisionId,
    revisions: [revision],
  }
  const none = { revisionNumber: 0, liveNumber: 0, liveRevisionId: null, revisions: [] }
  await store.importForm(toFormRecord(form, { ...(isLive ? live : none), replyIds: [] }))
  return form
}

const publicIdOf = ({ publicId }: StoredForm) => ({ publicId })

/** Rethrows errors other than conflicts of concurrent creates and imports. */
const unlessConflict = (error: { reason?: string; message: string }) => {
  if (error.reason !== 'FORM_CONFLICT' && error.message !== 'The public id is taken') throw error
}
