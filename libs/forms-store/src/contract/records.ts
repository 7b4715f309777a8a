import { randomUUID } from 'node:crypto'
import { FormDraft, FormRecord } from '@fms/contracts'
import { draftArbitrary } from '@fms/contracts/arbitrary'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { FormMetadata, StoredForm } from '../forms-store.ts'
import { parseDraft, parseSnapshot } from '../stored-draft.ts'
import {
  atOnce,
  edited,
  exported,
  givenForm,
  givenRevisions,
  newForm,
  newPublicId,
  type OpenStore,
  openStore,
  publish,
  refOf,
  revisionOf,
  snapshot,
} from './given.ts'
import { type EngineLimits, numberOfRuns } from './hostile-names.ts'

const allow = () => {}

/** Tests of export and import. */
export const recordsContract = (open: OpenStore, limits: EngineLimits): void => {
  const source = openStore(open)
  const target = openStore(open)
  /** Deletes the form, so that it can be imported into the same store. @returns its record. */
  const forgotten = async (form: StoredForm) => {
    const record = await recordOf(form)
    await source().delete(refOf(form), allow)
    return record
  }

  const recordOf = async (form: StoredForm): Promise<FormRecord> =>
    (await exported(source(), form.organizationId)).find(({ formId }) => formId === form.formId)!

  const signed = { publisher: `users/${randomUUID()}`, note: 'Why? 😀\0"' }

  /** A form with an edit, two publishes, the second of which has a note, and 40 replies. */
  const givenHistory = async (fields?: Partial<FormMetadata>): Promise<StoredForm> => {
    const form = await givenForm(source(), { ...fields, draft: { name: 'Intake', steps: [] } })
    await publish(source(), form)
    await source().update(refOf(form), (current) => edited(current, { name: 'Intake 2' }))
    const signedSnapshot = (current: StoredForm) => ({ ...snapshot(current), ...signed })
    await source().publish(refOf(form), randomUUID(), signedSnapshot)
    await source().recordReplies({ ...form, replyIds: Array.from({ length: 40 }, () => randomUUID()) })
    return (await source().get(refOf(form)))!
  }

  describe('exportForms', () => {
    it('exports everything of each form, ordered by public id', async () => {
      const organizationId = randomUUID()
      const forms = await atOnce(12, () => givenForm(source(), { organizationId }))
      const full = await givenHistory({ organizationId })

      const records = await exported(source(), organizationId)

      const publicIds = [...forms, full].map(({ publicId }) => publicId)
      expect(records.map(({ publicId }) => publicId)).toEqual(publicIds.sort())
      const { revisions } = (await source().listRevisions({ ...refOf(full), limit: 10, skip: 0 }))!
      const [second, first] = revisions.map(({ revision }) => revision)
      expect(records.find(({ formId }) => formId === full.formId)).toEqual({
        organizationId,
        formId: full.formId,
        publicId: full.publicId,
        createTime: full.createTime.toISOString(),
        updateTime: full.updateTime.toISOString(),
        version: 2,
        draft: parseDraft(full),
        revisionNumber: second!.number,
        live: { revisionId: second!.revisionId, number: second!.number },
        revisions: [first!, { ...second!, signed }].map((revision) => ({
          revisionId: revision.revisionId,
          number: revision.number,
          commandId: revision.commandId,
          createTime: revision.createTime.toISOString(),
          ...('signed' in revision && signed),
          form: parseSnapshot(revision),
        })),
        replyCount: 40,
        replyIds: expect.any(Array),
      })
    })

    it('returns valid JSON records', async () => {
      const record = await recordOf(await givenHistory())

      expect(JSON.parse(JSON.stringify(record))).toEqual(record)
      expect(FormRecord.parse(record)).toEqual(record)
      expect(new Set(record.replyIds).size).toBe(40)
    })

    it('exports nothing for an organization without forms', async () => {
      expect(await exported(source(), randomUUID())).toEqual([])
    })

    it('continues while forms are created and deleted', async () => {
      const organizationId = randomUUID()
      const forms = await atOnce(5, () => givenForm(source(), { organizationId }))
      const [first, second, ...rest] = forms.sort((a, b) => (a.publicId < b.publicId ? -1 : 1))
      const seen: string[] = []

      for await (const { publicId } of source().exportForms(organizationId)) {
        seen.push(publicId)
        if (publicId === first!.publicId) await source().delete(refOf(second!), allow)
      }

      expect(seen).toEqual([first!, ...rest].map(({ publicId }) => publicId))
    })
  })

  describe('organizations', () => {
    it('lists each organization with forms once, in order, with the number of its forms', async () => {
      const ids = [randomUUID(), randomUUID(), randomUUID()].sort()
      const [one, two, none] = ids as [string, string, string]
      await givenForm(source(), { organizationId: one })
      await atOnce(2, () => givenForm(source(), { organizationId: two }))
      await source().delete(refOf(await givenForm(source(), { organizationId: none })), allow)

      const all = await Array.fromAsync(source().organizations())

      expect(all.filter(({ organizationId }) => (ids as string[]).includes(organizationId))).toEqual([
        { organizationId: one, forms: 1 },
        { organizationId: two, forms: 2 },
      ])
      const told = all.map(({ organizationId }) => organizationId)
      expect(told).toEqual([...new Set(told)].sort())
    })
  })

  describe('importForm', () => {
    it('restores the form for every read', async () => {
      const form = await givenHistory()
      const page = { ...refOf(form), limit: 10, skip: 0 }
      const live = await source().getRevision(refOf(form), 'live')
      const all = await source().listRevisions(page)
      const record = await forgotten(form)

      expect(await target().importForm(record)).toBe('imported')

      expect(await exported(target(), form.organizationId)).toEqual([record])
      expect(await target().get(refOf(form))).toEqual(form)
      expect(await target().get({ ...form, formRef: form.publicId })).toEqual(form)
      expect(await target().getRevision(refOf(form), 'live')).toEqual(live)
      expect(await target().listRevisions(page)).toEqual(all)
      const { organizationId, revisions, replyIds } = record
      for (const { revisionId, commandId } of revisions) {
        const found = await revisionOf(target(), organizationId, commandId)
        expect(found).toMatchObject({ revisionId })
      }
      for (const replyId of [replyIds[0]!, replyIds.at(-1)!]) {
        expect(await target().recordReplies({ ...form, replyIds: [replyId] })).toBe(0)
      }
      expect(await target().create(newForm({ publicId: form.publicId }))).toBeUndefined()
      expect(await target().list({ organizationId, orderBy: [], limit: 1, skip: 0 })).toMatchObject({
        totalSize: 1,
      })
    })

    it('continues the numbers, replies and versions of the record', async () => {
      const form = await givenHistory()
      const record = await forgotten(form)
      // A revision number that was taken but not used.
      await target().importForm({ ...record, revisionNumber: record.revisionNumber + 1 })

      const revision = await publish(target(), form)
      const counted = await target().recordReplies({ ...form, replyIds: [randomUUID()] })
      await target().update(refOf(form), (current) => edited(current, { name: 'Later' }))

      expect(revision.number).toBe(record.revisionNumber + 2)
      expect(counted).toBe(1)
      expect(await target().get(refOf(form))).toMatchObject({ version: form.version + 1, replyCount: 41 })
    })

    it('reports an identical form as existing, also with two concurrent imports', async () => {
      const record = await forgotten(await givenHistory())

      const outcomes = await atOnce(2, () => target().importForm(record))

      expect(outcomes).toContain('imported')
      expect(await target().importForm(record)).toBe('exists')
      expect(await exported(target(), record.organizationId)).toEqual([record])
    })

    it('restores any draft and any member name unchanged', async () => {
      const property = fc.asyncProperty(draftArbitrary, async (draft) => {
        const form = newForm({ draft: FormDraft.parse(draft) })
        const record: FormRecord = {
          organizationId: form.organizationId,
          formId: form.formId,
          publicId: form.publicId,
          createTime: form.createTime.toISOString(),
          updateTime: form.updateTime.toISOString(),
          version: 7,
          draft: parseDraft(form),
          revisionNumber: 3,
          live: null,
          revisions: [],
          replyCount: 5,
          replyIds: [],
        }

        expect(FormRecord.parse(JSON.parse(JSON.stringify(record)))).toEqual(record)
        expect(await target().importForm(record)).toBe('imported')
        expect(await target().importForm(record)).toBe('exists')
        expect(await exported(target(), record.organizationId)).toEqual([record])
      })
      await fc.assert(property, { numRuns: numberOfRuns(limits, 30, 8) })
    })

    const conflict = (field: string) => ({
      status: 'ALREADY_EXISTS',
      reason: 'FORM_CONFLICT',
      parts: { metadata: expect.objectContaining({ field }) },
    })

    it('rejects another state of a form, and leaves the form unchanged', async () => {
      const form = await givenHistory()
      const record = await forgotten(form)
      await target().importForm(record)
      const others: Partial<FormRecord>[] = [
        { version: record.version + 1 },
        { draft: { ...record.draft, name: 'Other' } },
        { publicId: newPublicId() },
        { replyIds: record.replyIds.slice(1) },
        { revisions: record.revisions.slice(1) },
        { revisions: record.revisions.map((revision) => ({ ...revision, note: 'Other' })) },
        { revisions: record.revisions.map(({ publisher, ...revision }) => revision) },
        { organizationId: randomUUID() },
      ]

      for (const other of others) {
        const different = target().importForm({ ...record, ...other })
        // The last one has another form, since form ids are unique per organization: its public id conflicts.
        await expect(different).rejects.toMatchObject(
          conflict(expect.stringMatching(/^(formId|publicId)$/) as unknown as string),
        )
      }

      expect(await exported(target(), form.organizationId)).toEqual([record])
    })

    it('rejects the public id, revision or command of another form, and leaves nothing visible', async () => {
      const form = await givenHistory()
      const record = await forgotten(form)
      await target().importForm(record)
      const { organizationId, formId } = newForm()
      const revision = record.revisions[0]!
      const fresh = { ...record, formId, publicId: newPublicId(), revisions: [], live: null, replyIds: [] }
      const refused: [field: string, record: FormRecord][] = [
        ['publicId', { ...fresh, organizationId, publicId: record.publicId }],
        ['revisionId', { ...fresh, revisions: [{ ...revision, commandId: randomUUID() }] }],
        ['commandId', { ...fresh, revisions: [{ ...revision, revisionId: randomUUID() }] }],
        ['revisionId', { ...fresh, organizationId, revisions: [revision] }],
        ['revisionId', { ...fresh, organizationId, formId: record.formId, revisions: [revision] }],
      ]

      for (const [field, other] of refused) {
        for (const validateOnly of [true, false])
          await expect(target().importForm(other, { validateOnly })).rejects.toMatchObject(conflict(field))
        expect(await target().get({ ...other, formRef: other.formId })).toBeUndefined()
      }

      expect(await exported(target(), record.organizationId)).toEqual([record])
      const repaired = { ...fresh, revisions: [], publicId: newPublicId() }
      expect(await target().importForm(repaired)).toBe('imported')
    })

    it('stores nothing if it is only validated', async () => {
      const record = await forgotten(await givenHistory())

      expect(await target().importForm(record, { validateOnly: true })).toBe('imported')
      expect(await exported(target(), record.organizationId)).toEqual([])

      await target().importForm(record)
      expect(await target().importForm(record, { validateOnly: true })).toBe('exists')
    })

    it('imports a deleted form again', async () => {
      const form = await givenHistory()
      const record = await forgotten(form)
      await target().importForm(record)
      await target().delete(refOf(form), allow)

      expect(await target().importForm(record)).toBe('imported')
      expect(await exported(target(), form.organizationId)).toEqual([record])
    })

    it('keeps a revision that is not live yet, so that a repeated publish can finish', async () => {
      const { form, revisions } = await givenRevisions(source(), [1])
      await target().importForm(await forgotten(form))

      const { commandId } = revisions[0]!
      expect(await target().publish(refOf(form), commandId, snapshot)).toMatchObject({ live: true })

      expect(await target().getRevision(refOf(form), 'live')).toMatchObject({ revision: revisions[0] })
    })
  })
}
