import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import type { FormsStore, StoredForm, Usage } from '../forms-store.ts'
import { toFormRecord } from '../stored-form-record.ts'
import {
  atOnce,
  edited,
  givenForm,
  newForm,
  type OpenStore,
  openStore,
  publish,
  refOf,
  snapshot,
} from './given.ts'
import type { EngineLimits } from './hostile-names.ts'

const allow = () => {}
const byteLength = (value: unknown) => Buffer.byteLength(JSON.stringify(value))
const size = Buffer.byteLength(newForm().draftJson)

/** The usage of an organization, computed from an export. */
const truthOf = async (store: FormsStore, organizationId: string): Promise<Usage> => {
  const records = await Array.fromAsync(store.exportForms(organizationId))
  const documents = records.flatMap(({ draft, revisions }) => [draft, ...revisions.map(({ form }) => form)])
  return { forms: records.length, bytes: documents.reduce((sum, each) => sum + byteLength(each), 0) }
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
export const quotasContract = (open: OpenStore, { slow }: EngineLimits): void => {
  const numRuns = Number(process.env.FC_RUNS ?? (slow ? 8 : 15))

  describe('usage', () => {
    const store = openStore(open)

    it('is nothing for an organization without forms', async () => {
      expect(await store().usage(randomUUID())).toEqual({ forms: 0, bytes: 0 })
    })

    it('counts drafts and revisions in UTF-8', async () => {
      const form = await givenForm(store(), { draft: { name: 'Größe 😀' } })
      expect(await store().usage(form.organizationId)).toEqual({
        forms: 1,
        bytes: Buffer.byteLength(form.draftJson),
      })

      const revision = await publish(store(), form)

      const bytes = Buffer.byteLength(form.draftJson) + Buffer.byteLength(revision.formJson)
      expect(await store().usage(form.organizationId)).toEqual({ forms: 1, bytes })
    })

    it('is exact after any sequential or concurrent changes, repeats and rejections', async () => {
      const step = fc.record({
        kind: fc.constantFrom('create', 'patch', 'publish', 'repeat', 'refuse', 'reply', 'delete', 'move'),
        form: fc.nat(3),
        name: fc.string({ maxLength: 30, unit: 'grapheme' }).map((text) => `Name ${text}`),
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
      await expect(store().checkQuota(organizationId, { forms: 1, bytes: 1 })).rejects.toMatchObject(refused)

      const { forms } = await store().list({ organizationId, orderBy: [], limit: 1, skip: 0 })
      await store().delete({ organizationId, formRef: forms[0]!.formId }, allow)
      await store().checkQuota(organizationId, { forms: 1, bytes: 1 })
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
    const limit = 3 * size
    const store = openStore(open, { quota: { forms: 0, bytes: limit } })

    it('rejects growth beyond it, and leaves everything unchanged', async () => {
      const form = await givenForm(store())
      const { organizationId } = form
      const longer = (name: string) => (current: StoredForm) => edited(current, { name })
      // A revision has more members than a draft.
      await givenForm(store(), { organizationId })
      const used = 2 * size
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
      const form = newForm({ draft: { context: ['x'.repeat(limit)] } })
      const history = { revisionNumber: 0, liveNumber: 0, liveRevisionId: null, revisions: [], replyIds: [] }
      await store().importForm(toFormRecord(form, history))

      const half = ['x'.repeat(limit / 2)]
      expect(
        await store().update(refOf(form), (current) => edited(current, { context: half })),
      ).toMatchObject({
        version: 2,
      })
      await store().checkQuota(form.organizationId, { forms: 0, bytes: -1 })
      expect(await store().delete(refOf(form), allow)).toBe(true)
      expect(await store().usage(form.organizationId)).toEqual({ forms: 0, bytes: 0 })
    })

    it('is available again once the revisions of a deleted form are cleared', async () => {
      const form = await givenForm(store())
      const { organizationId } = form
      await publish(store(), form)
      await expect(givenForm(store(), { organizationId })).rejects.toMatchObject({ reason: 'QUOTA_EXCEEDED' })

      await store().delete(refOf(form), allow)

      await vi.waitFor(async () => expect((await store().usage(organizationId)).bytes).toBe(0))
      await givenForm(store(), { organizationId })
    })
  })
}

const publicIdOf = ({ publicId }: StoredForm) => ({ publicId })

/** Rethrows errors other than conflicts of concurrent creates and imports. */
const unlessConflict = (error: { reason?: string; message: string }) => {
  if (error.reason !== 'FORM_CONFLICT' && error.message !== 'The public id is taken') throw error
}
