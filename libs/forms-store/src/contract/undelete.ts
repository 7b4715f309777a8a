import { randomUUID } from 'node:crypto'
import { type FormRecord, formPath } from '@fms/contracts'
import fc from 'fast-check'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import type { DeletedForm, FormsStore, StoredForm } from '../forms-store.ts'
import type { ChangeContext } from '../identified-request.ts'
import { formETag } from '../resource/form-to-json.ts'
import { logBytesOf, logOf } from './events/log-of.ts'
import {
  atOnce,
  edited,
  exported,
  givenForm,
  newForm,
  newPublicId,
  type OpenStore,
  openStore,
  publish,
  refOf,
  revisionOf,
  snapshot,
  time,
} from './given.ts'
import { type EngineLimits, numberOfRuns } from './hostile-names.ts'

const allow = () => {}
const refuse = () => {
  throw new Error('Refused')
}

const deletedFormsDays = 30
const msPerDay = 24 * 60 * 60 * 1_000

const newContext = (): ChangeContext => ({
  actor: { user: `users/${randomUUID()}`, key: { id: randomUUID(), prefix: 'abcd1234' } },
  httpRequestId: `request-${randomUUID()}`,
})

/** The record of a form, deleted or not. */
const recordOf = async (store: FormsStore, form: StoredForm): Promise<FormRecord> =>
  (await exported(store, form.organizationId)).find(({ formId }) => formId === form.formId)!

/** A record of the form as it is exported after a delete. */
const deleted = (
  record: FormRecord,
  [deleteTime, purgeTime]: [deleteTime: Date, purgeTime: Date],
): FormRecord => ({
  ...record,
  deletion: { deleteTime: deleteTime.toISOString(), purgeTime: purgeTime.toISOString(), deleter: '' },
})

const conflict = (field: string) => ({
  status: 'ALREADY_EXISTS',
  reason: 'FORM_CONFLICT',
  parts: { metadata: expect.objectContaining({ field }) },
})

/** Tests of deleted forms: what hides them, restores them and purges them. */
export const undeleteContract = (open: OpenStore, limits: EngineLimits): void => {
  const numRuns = numberOfRuns(limits, 25, 5)
  const store = openStore(open, { deletedFormsDays })
  /** Where deletes are for good. */
  const source = openStore(open)

  const remove = (form: StoredForm, context?: ChangeContext) => store().delete(refOf(form), allow, context)
  const undelete = (form: StoredForm, context?: ChangeContext) =>
    store().undelete(refOf(form), allow, context)
  const purge = (form: StoredForm, context?: ChangeContext) => store().purge(refOf(form), allow, context)
  const current = async (form: StoredForm) => (await store().get(refOf(form)))!

  const listDeleted = (organizationId: string) =>
    store().listDeleted({ organizationId, limit: 1000, skip: 0 })

  /** A form with an edit, two revisions and replies, deleted. */
  const givenDeleted = async (fields?: Parameters<typeof newForm>[0]) => {
    const created = await givenForm(store(), fields)
    const first = await publish(store(), created)
    await store().update(refOf(created), (form) => edited(form, { name: 'Edited' }))
    const second = await publish(store(), created)
    const replyIds = [randomUUID(), randomUUID()]
    await store().recordReplies({ ...created, replyIds })
    const form = await current(created)
    const record = await recordOf(store(), form)
    const context = newContext()
    expect(await remove(form, context)).toBe(true)
    return { form, first, second, replyIds, record, context }
  }

  describe('a deleted form', () => {
    it('is invisible to everything else', async () => {
      const { form, first } = await givenDeleted()
      const { organizationId, formId, publicId } = form
      const everything = { organizationId, orderBy: [], limit: 10, skip: 0 }

      for (const formRef of [formId, publicId]) {
        const ref = { organizationId, formRef }
        expect(await store().get(ref)).toBeUndefined()
        expect(await store().getMetadata(ref)).toBeUndefined()
        expect(await store().update(ref, refuse)).toBeUndefined()
        expect(await store().delete(ref, refuse)).toBe(false)
        expect(await store().publish(ref, randomUUID(), refuse)).toBeUndefined()
        expect(await store().publish(ref, first.commandId, refuse)).toBeUndefined()
        expect(await store().unpublish(ref, '', refuse)).toBeUndefined()
        expect(await store().listRevisions({ ...ref, limit: 10, skip: 0 })).toBeUndefined()
        for (const revision of ['live', 'latest', first.revisionId]) {
          expect(await store().getRevision(ref, revision)).toBeUndefined()
          expect(await store().getRevisionState(ref, revision)).toBeUndefined()
        }
      }
      expect(await store().list(everything)).toEqual({ forms: [], totalSize: 0 })
      expect(await store().listSummaries(everything)).toEqual({ forms: [], totalSize: 0 })
      expect(await store().findOrganizationOf(publicId)).toBeUndefined()
      expect(await Array.fromAsync(store().revisionGrowth.formsToPrune(organizationId, 1))).toEqual([])
    })

    it('is listed, and found by id and public id', async () => {
      const { form, context } = await givenDeleted()
      const { organizationId, formId, publicId, name } = form
      const [event] = (await logOf(store(), organizationId)).slice(-1)

      const page = await listDeleted(organizationId)

      const listed: DeletedForm = {
        organizationId,
        formId,
        publicId,
        name,
        deleteTime: expect.any(Date),
        purgeTime: new Date(event!.data.purgeTime!),
        deleter: (context.actor as { user: string }).user,
      }
      expect(page).toEqual({ deletedForms: [listed], totalSize: 1 })
      const [{ deleteTime, purgeTime }] = page.deletedForms as [DeletedForm]
      expect(purgeTime.getTime() - deleteTime.getTime()).toBe(deletedFormsDays * msPerDay)
      expect(Math.abs(Date.parse(event!.time) - deleteTime.getTime())).toBeLessThan(1_000)
      for (const formRef of [formId, formId.toUpperCase(), publicId]) {
        expect(await store().getDeleted({ organizationId, formRef })).toEqual(form)
      }
    })

    it('belongs to its organization alone', async () => {
      const { form } = await givenDeleted()
      const organizationId = randomUUID()

      for (const formRef of [form.formId, form.publicId, 'nonsense']) {
        const ref = { organizationId, formRef }
        expect(await store().getDeleted(ref)).toBeUndefined()
        expect(await store().undelete(ref, refuse)).toBeUndefined()
        expect(await store().purge(ref, refuse)).toBe(false)
      }
      expect(await listDeleted(organizationId)).toEqual({ deletedForms: [], totalSize: 0 })
      expect((await listDeleted(form.organizationId)).totalSize).toBe(1)
    })

    it('keeps its ids and those of its revisions', async () => {
      const { form, first, second } = await givenDeleted()
      const { organizationId, formId, publicId } = form
      const other = await givenForm(source(), { organizationId })
      const record = await recordOf(source(), other)
      await source().delete(refOf(other), allow)
      const revisionOf = (ids: object) => ({
        ...record,
        revisionNumber: 1,
        revisions: [
          {
            revisionId: randomUUID(),
            number: 1,
            commandId: randomUUID(),
            createTime: time(0).toISOString(),
            form: { ...JSON.parse(first.formJson), path: formPath(other) },
            ...ids,
          },
        ],
      })

      for (const organization of [organizationId, randomUUID()]) {
        expect(await store().create(newForm({ organizationId: organization, publicId }))).toBeUndefined()
      }
      const taken = store().create(newForm({ organizationId, formId }), undefined, { idChosenByClient: true })
      await expect(taken).rejects.toMatchObject({
        status: 'ALREADY_EXISTS',
        reason: 'FORM_ID_TAKEN',
        parts: { metadata: { form: formPath(form), deleted: 'true' } },
      })
      const imports: [field: string, record: FormRecord][] = [
        ['formId', { ...record, formId }],
        ['publicId', { ...record, publicId }],
        ['revisionId', revisionOf({ revisionId: first.revisionId })],
        ['commandId', revisionOf({ commandId: second.commandId })],
      ]
      for (const [field, other] of imports) {
        await expect(source().importForm(other)).rejects.toMatchObject(conflict(field))
      }
      expect(await undelete(form)).toEqual(form)
    })

    it('keeps the commands of its revisions: no other form can publish with them, and a repeat finds them', async () => {
      const { form, first, record } = await givenDeleted()
      const { organizationId } = form
      const other = await givenForm(store(), { organizationId })

      expect(await revisionOf(store(), organizationId, first.commandId)).toEqual(first)
      expect(await store().publish(refOf(other), first.commandId, refuse)).toBe('elsewhere')
      expect(await current(other)).toEqual(other)
      await undelete(form)
      expect(await store().publish(refOf(form), first.commandId, refuse)).toEqual(form)

      expect(await recordOf(store(), form)).toEqual(record)
    })

    it('frees the commands of its revisions once it is purged', async () => {
      const { form, first } = await givenDeleted()
      const { organizationId } = form
      const other = await givenForm(store(), { organizationId })

      await purge(form)

      expect(await revisionOf(store(), organizationId, first.commandId)).toBeUndefined()
      expect(await store().publish(refOf(other), first.commandId, snapshot)).toEqual({ ...other, live: true })
    })

    it('counts the replies that come meanwhile, each once', async () => {
      const { form, replyIds, record } = await givenDeleted()
      const later = Array.from({ length: 70 }, () => randomUUID())
      const counts: number[] = []

      for (const ids of [later.slice(0, 1), later.slice(0, 40), later.slice(20), later, replyIds]) {
        counts.push(await store().recordReplies({ ...form, replyIds: ids }))
      }

      expect(counts).toEqual([1, 39, 30, 0, 0])
      const counted = { ...form, replyCount: form.replyCount + later.length }
      expect(await store().getDeleted(refOf(form))).toEqual(counted)
      const { deletion, ...deleted } = await recordOf(store(), form)
      const { replyIds: countedIds, ...rest } = deleted
      expect([...countedIds].sort()).toEqual([...replyIds, ...later].sort())
      const { replyIds: _, ...before } = record
      expect(rest).toEqual({ ...before, replyCount: counted.replyCount })
      expect(deletion).toBeDefined()
      expect(await undelete(form)).toEqual(counted)
      expect(await recordOf(store(), form)).toEqual(deleted)
      expect(await store().recordReplies({ ...form, replyIds: later })).toBe(0)
    })

    it('counts no replies once it is purged', async () => {
      const { form } = await givenDeleted()
      await purge(form)

      expect(await store().recordReplies({ ...form, replyIds: [randomUUID()] })).toBe(0)
    })

    it('loses no reply that comes while it is deleted and restored', async () => {
      const form = await givenForm(store())
      const ids = Array.from({ length: 40 }, () => randomUUID())

      const counts = await atOnce(ids.length, async (index) => {
        if (index % 8 === 3) await remove(form)
        if (index % 8 === 7) await undelete(form)
        return store().recordReplies({ ...form, replyIds: [ids[index]!] })
      })

      expect(counts).toEqual(ids.map(() => 1))
      const { replyCount, replyIds } = await recordOf(store(), form)
      expect([replyCount, [...replyIds].sort()]).toEqual([ids.length, [...ids].sort()])
    })

    it('counts in the bytes of its organization, and not in its forms', async () => {
      const { form } = await givenDeleted()
      const { organizationId } = form
      await undelete(form)
      const usage = async () => {
        const { forms, bytes } = await store().usage(organizationId)
        return { forms, content: bytes - (await logBytesOf(store(), organizationId)) }
      }
      const before = await usage()

      await remove(form)
      await vi.waitFor(async () => expect(await usage()).toEqual({ ...before, forms: 0 }))
      const all = await Array.fromAsync(store().organizations())
      expect(all.filter((each) => each.organizationId === organizationId)).toEqual([
        { organizationId, forms: 0 },
      ])
      await undelete(form)

      await vi.waitFor(async () => expect(await usage()).toEqual(before))
    })

    it('is exported once if it is deleted while the other forms are read', async () => {
      const { form } = await givenDeleted()
      await undelete(form)
      const other = await givenForm(store(), { organizationId: form.organizationId })
      const formIds: string[] = []

      for await (const { formId } of store().exportForms(form.organizationId)) {
        if (formIds.push(formId) === 1) await remove(formId === form.formId ? form : other)
      }

      expect(formIds.sort()).toEqual([form.formId, other.formId].sort())
    })
  })

  describe('an export during an undelete', () => {
    /** Three forms, of which two or all are deleted. */
    const givenForms = async (organizationId: string, areAllDeleted: boolean) => {
      const suffix = newPublicId().slice(1)
      // The public ids of the deleted forms come before and after that of the other form.
      const [before, other, after] = await atOnce(3, (index) =>
        givenForm(store(), { organizationId, publicId: `${'AMZ'[index]}${suffix}` }),
      )
      const deleted = [before!, after!, ...(areAllDeleted ? [other!] : [])]
      await Promise.all(deleted.map((form) => remove(form)))
      return [before!, other!, after!]
    }

    it.each([
      ['the other forms', false, [false, false, false]],
      ['the deleted forms', true, [true, false, false]],
    ])('has a form once if it is restored while %s are read', async (_, areAllDeleted, areDeleted) => {
      const organizationId = randomUUID()
      const forms = await givenForms(organizationId, areAllDeleted)
      const records: FormRecord[] = []

      for await (const record of store().exportForms(organizationId)) {
        if (records.push(record) > 1) continue
        for (const form of forms) if (form.formId !== record.formId) await undelete(form)
      }

      const idsOf = (some: readonly { formId: string }[]) => some.map(({ formId }) => formId).sort()
      expect(idsOf(records)).toEqual(idsOf(forms))
      expect(records.map(({ deletion }) => deletion !== undefined)).toEqual(areDeleted)
    })

    it('has a form that is deleted and restored while the other forms are read', async () => {
      const organizationId = randomUUID()
      const forms = await atOnce(3, () => givenForm(store(), { organizationId }))
      const [, deleted, last] = forms.sort((a, b) => (a.publicId < b.publicId ? -1 : 1))
      const formIds: string[] = []

      for await (const { formId } of store().exportForms(organizationId)) {
        formIds.push(formId)
        if (formIds.length === 1) await remove(deleted!)
        if (formId === last!.formId) await undelete(deleted!)
      }

      expect(formIds.sort()).toEqual(forms.map(({ formId }) => formId).sort())
    })
  })

  describe('an undelete', () => {
    it('restores everything of the form', async () => {
      const { form, replyIds, first, second, record } = await givenDeleted()

      expect(await store().undelete({ ...form, formRef: form.publicId }, allow)).toEqual(form)

      expect(await current(form)).toEqual(form)
      expect(await exported(store(), form.organizationId)).toEqual([record])
      const page = await store().listRevisions({ ...refOf(form), limit: 10, skip: 0 })
      expect(page!.revisions).toEqual([
        { revision: second, live: true },
        { revision: first, live: false },
      ])
      expect(await store().findOrganizationOf(form.publicId)).toBe(form.organizationId)
      expect(await store().recordReplies({ ...form, replyIds })).toBe(0)
      expect(await listDeleted(form.organizationId)).toEqual({ deletedForms: [], totalSize: 0 })
      const filter = { kind: 'search', field: 'name', text: 'edite' } as const
      const found = await store().list({ ...form, filter, orderBy: [], limit: 10, skip: 0 })
      expect(found.totalSize).toBe(1)
    })

    it('leaves the export of the form as it was, byte for byte, whatever its history', async () => {
      const kinds = ['edit', 'publish', 'unpublish', 'reply', 'cycle'] as const
      const property = fc.asyncProperty(
        fc.array(fc.constantFrom(...kinds), { maxLength: 8 }),
        async (history) => {
          const form = await givenForm(store(), { draft: { name: 'Größe 😀' } })
          const bytes = async () => JSON.stringify(await exported(store(), form.organizationId))
          const cycle = async () => {
            const before = await bytes()
            await remove(form)
            await undelete(form)
            expect(await bytes()).toBe(before)
          }
          const steps = {
            edit: () => store().update(refOf(form), (now) => edited(now, { name: `${now.version}` })),
            publish: () => publish(store(), form),
            unpublish: async () => {
              if ((await current(form)).live) await store().unpublish(refOf(form), '', allow)
            },
            reply: () => store().recordReplies({ ...form, replyIds: [randomUUID()] }),
            cycle,
          }
          for (const kind of history) await steps[kind]()
          await cycle()
        },
      )
      await fc.assert(property, { numRuns })
    })

    it('finds nothing where no form is deleted, or it is restored already', async () => {
      const { form } = await givenDeleted()

      expect(await store().undelete(refOf(newForm()), refuse)).toBeUndefined()
      await undelete(form)
      expect(await store().undelete(refOf(form), refuse)).toBeUndefined()
      expect(await purge(form)).toBe(false)
      expect(await current(form)).toEqual(form)
    })

    it('passes the form to its check, and changes nothing when that refuses', async () => {
      const { form } = await givenDeleted()
      const check = vi.fn(refuse)

      await expect(store().undelete(refOf(form), check)).rejects.toThrow('Refused')

      expect(check).toHaveBeenCalledWith(form)
      expect(await store().getDeleted(refOf(form))).toEqual(form)
      expect((await logOf(store(), form.organizationId)).at(-1)!.type).toBe('form.deleted')
    })

    it('happens once when it is called concurrently', async () => {
      const { form } = await givenDeleted()

      const outcomes = await atOnce(10, () => undelete(form))

      expect(outcomes.filter(Boolean)).toEqual([form])
      const types = (await logOf(store(), form.organizationId)).map(({ type }) => type)
      expect(types.filter((type) => type === 'form.undeleted')).toHaveLength(1)
    })

    it('leaves either the form or the deleted form when deletes and undeletes run concurrently', async () => {
      const { form, record } = await givenDeleted()

      await atOnce(30, async (index) => (index % 2 === 0 ? undelete(form) : remove(form)))

      const [only, ...others] = await exported(store(), form.organizationId)
      expect(others).toEqual([])
      const { deletion, ...rest } = only!
      expect(rest).toEqual(record)
      expect((await current(form)) === undefined).toBe(deletion !== undefined)
      const log = await logOf(store(), form.organizationId)
      const visible = log.map(({ type }) => type).filter((type) => /deleted/.test(type))
      visible.forEach((type, index) => {
        expect(type).toBe(index % 2 === 0 ? 'form.deleted' : 'form.undeleted')
      })
      expect(visible.at(-1) === 'form.deleted').toBe(deletion !== undefined)
    })

    it('is refused where the organization has its maximum of forms, whatever its bytes', async () => {
      const quota = { forms: 1, bytes: 1 }
      await using limited = await open({ deletedFormsDays, quota: { forms: 1, bytes: 0 } })
      await using full = await open({ deletedFormsDays, quota: { ...quota, forms: 0 } })
      const form = await givenForm(limited)
      await limited.delete(refOf(form), allow)
      const other = await givenForm(limited, { organizationId: form.organizationId })

      await expect(limited.undelete(refOf(form), allow)).rejects.toMatchObject({
        reason: 'QUOTA_EXCEEDED',
        parts: { metadata: expect.objectContaining({ quota: 'forms' }) },
      })
      expect(await limited.getDeleted(refOf(form))).toEqual(form)
      expect(await full.undelete(refOf(form), allow)).toEqual(form)
      expect(await current(other)).toEqual(other)
    })
  })

  describe('a purge', () => {
    it('removes the form with its revisions and replies, and frees its ids', async () => {
      const { form, replyIds, record } = await givenDeleted()

      expect(await purge(form)).toBe(true)

      expect(await store().getDeleted(refOf(form))).toBeUndefined()
      expect(await undelete(form)).toBeUndefined()
      expect(await purge(form)).toBe(false)
      expect(await exported(store(), form.organizationId)).toEqual([])
      expect(await listDeleted(form.organizationId)).toEqual({ deletedForms: [], totalSize: 0 })
      const bytes = await logBytesOf(store(), form.organizationId)
      await vi.waitFor(
        async () => expect(await store().usage(form.organizationId)).toEqual({ forms: 0, bytes }),
        { timeout: 10_000 },
      )
      const { organizationId, formId, publicId } = form
      const again = newForm({ organizationId, formId, publicId })
      expect(await store().create(again, undefined, { idChosenByClient: true })).toEqual(again)
      expect(await store().getRevision(refOf(again), 'latest')).toBeUndefined()
      expect(await store().recordReplies({ ...again, replyIds })).toBe(replyIds.length)
      await source().delete(refOf(again), allow)
      expect(await source().importForm(record)).toBe('imported')
    })

    it('changes nothing when its check refuses', async () => {
      const { form } = await givenDeleted()
      const check = vi.fn(refuse)

      await expect(store().purge(refOf(form), check)).rejects.toThrow('Refused')

      expect(check).toHaveBeenCalledWith(expect.objectContaining({ formId: form.formId, version: 2 }))
      expect(await store().getDeleted(refOf(form))).toEqual(form)
    })

    it('is done after the purgeTime by any process that has the store open', async () => {
      const form = await givenForm(source())
      const alive = await givenForm(source(), { organizationId: form.organizationId })
      await publish(source(), form)
      const due = deleted(await recordOf(source(), form), [time(0), new Date(Date.now() - 1)])
      const future = deleted(await recordOf(source(), alive), [time(0), new Date(Date.now() + msPerDay)])
      for (const each of [form, alive]) await source().delete(refOf(each), allow)
      for (const record of [due, future]) await source().importForm(record)

      await using opened = await open()

      await vi.waitFor(
        async () => {
          const page = await opened.listDeleted({ ...form, limit: 10, skip: 0 })
          expect(page.deletedForms.map(({ formId }) => formId)).toEqual([alive.formId])
          const { bytes } = await opened.usage(form.organizationId)
          const content = bytes - (await logBytesOf(opened, form.organizationId))
          expect(content).toBe(Buffer.byteLength(alive.draftJson))
        },
        { timeout: 10_000 },
      )
      const purged = (await logOf(opened, form.organizationId)).filter(({ type }) => type === 'form.purged')
      expect(purged).toMatchObject([
        { subject: formPath(form), data: { actor: { operator: true }, httpRequestId: '' } },
      ])
    })
  })

  describe('the log', () => {
    it('has each delete, undelete and purge in order, with who made it', async () => {
      const form = await givenForm(store())
      const [first, second, third, fourth] = [newContext(), newContext(), newContext(), newContext()]
      await remove(form, first)
      await undelete(form, second)
      await remove(form, third)
      await purge(form, fourth)

      const log = (await logOf(store(), form.organizationId)).slice(1)

      const [etag, base] = [
        formETag(form),
        { form: formPath(form), publicId: form.publicId, name: form.name },
      ]
      const deleted = { ...base, etag: '', previousEtag: etag, purgeTime: expect.any(String) }
      expect(log.map(({ type, data }) => ({ type, data }))).toEqual([
        { type: 'form.deleted', data: { ...deleted, ...first } },
        { type: 'form.undeleted', data: { ...base, etag, previousEtag: '', ...second } },
        { type: 'form.deleted', data: { ...deleted, ...third } },
        { type: 'form.purged', data: { ...base, etag: '', previousEtag: '', ...fourth } },
      ])
      const times = log.map((event) => event.time)
      expect(times).toEqual([...new Set(times)].sort())
    })

    it('has neither a purgeTime nor a purge of a form that is deleted for good', async () => {
      const form = await givenForm(source())
      await source().delete(refOf(form), allow)

      expect(await source().getDeleted(refOf(form))).toBeUndefined()
      const log = await logOf(source(), form.organizationId)
      expect(log.map(({ type }) => type)).toEqual(['form.created', 'form.deleted'])
      expect(log.at(-1)!.data).not.toHaveProperty('purgeTime')
    })

    it('has onRecorded called for each change', async () => {
      const onRecorded = vi.fn()
      await using announcing = await open({ deletedFormsDays, onRecorded })
      const form = await givenForm(announcing)
      onRecorded.mockClear()

      await announcing.delete(refOf(form), allow)
      await announcing.undelete(refOf(form), allow)
      await announcing.delete(refOf(form), allow)
      await announcing.purge(refOf(form), allow)

      const types = ['form.deleted', 'form.undeleted', 'form.deleted', 'form.purged']
      expect(onRecorded.mock.calls).toEqual(types.map((type) => [type]))
    })
  })

  describe('the list of deleted forms', () => {
    /** Deleted forms in the order of the list; some have the same deleteTime. */
    const organizationId = randomUUID()
    let ids: string[]
    beforeAll(async () => {
      const forms = await atOnce(9, () => givenForm(source(), { organizationId }))
      const purgeTime = new Date(Date.now() + msPerDay)
      const records = (await exported(source(), organizationId)).map((record, index) =>
        deleted(record, [time(Math.floor(index / 3)), purgeTime]),
      )
      await Promise.all(forms.map((form) => source().delete(refOf(form), allow)))
      for (const record of records) await source().importForm(record)
      const inOrder = records.toSorted((one, other) =>
        one.deletion!.deleteTime === other.deletion!.deleteTime
          ? Number(one.formId > other.formId) - 0.5
          : Number(one.deletion!.deleteTime < other.deletion!.deleteTime) - 0.5,
      )
      ids = inOrder.map(({ formId }) => formId)
    })

    it('begins with the most recently deleted, and continues from a position', async () => {
      for (const limit of [1, 2, 4, 9, 100]) {
        const seen: string[] = []
        let after: Parameters<FormsStore['listDeleted']>[0]['after']
        do {
          const query = { organizationId, limit, skip: 0, ...(after && { after }) }
          const page = await store().listDeleted(query)
          expect(page.totalSize).toBe(ids.length)
          expect(page.deletedForms.length).toBe(Math.min(limit, ids.length - seen.length))
          seen.push(...page.deletedForms.map(({ formId }) => formId))
          after = page.next
        } while (after)
        expect(seen).toEqual(ids)
      }
    })

    it('skips forms after the position', async () => {
      const { next } = await store().listDeleted({ organizationId, limit: 2, skip: 1 })

      const page = await store().listDeleted({ organizationId, after: next!, limit: 3, skip: 2 })

      expect(page.deletedForms.map(({ formId }) => formId)).toEqual(ids.slice(5, 8))
      const end = await store().listDeleted({ organizationId, limit: 3, skip: 100 })
      expect(end).toEqual({ deletedForms: [], totalSize: 9 })
    })
  })

  describe('the record of a deleted form', () => {
    it('comes after those of all other forms', async () => {
      const { form, record } = await givenDeleted({ publicId: `0000${newPublicId().slice(4)}` })
      const others = await atOnce(2, () => givenForm(store(), { organizationId: form.organizationId }))

      const records = await exported(store(), form.organizationId)

      const publicIds = others.map(({ publicId }) => publicId).sort()
      expect(records.map(({ publicId }) => publicId)).toEqual([...publicIds, form.publicId])
      const [{ deleteTime, purgeTime, deleter }] = (await listDeleted(form.organizationId)).deletedForms as [
        DeletedForm,
      ]
      const deletion = {
        deleteTime: deleteTime.toISOString(),
        purgeTime: purgeTime.toISOString(),
        deleter,
      }
      expect(records.at(-1)).toEqual({ ...record, deletion })
    })

    it('can be imported, and restored there', async () => {
      const { form, record, first } = await givenDeleted()
      const deleted = await recordOf(store(), form)
      await purge(form)

      expect(await source().importForm(deleted)).toBe('imported')
      expect(await source().importForm(deleted)).toBe('exists')

      expect(await exported(source(), form.organizationId)).toEqual([deleted])
      expect(await source().get(refOf(form))).toBeUndefined()
      expect((await logOf(source(), form.organizationId)).at(-1)).toMatchObject({
        type: 'form.imported',
        data: { etag: '', previousEtag: '', purgeTime: deleted.deletion!.purgeTime },
      })
      expect(await source().undelete(refOf(form), allow)).toEqual(form)
      expect(await exported(source(), form.organizationId)).toEqual([record])
      expect(await source().publish(refOf(form), first.commandId, refuse)).toEqual(form)
    })

    it('conflicts with the form in another state, deleted or not', async () => {
      const { form, record } = await givenDeleted()
      const deleted = await recordOf(store(), form)
      const purgeTime = new Date(Date.parse(deleted.deletion!.purgeTime) + 1).toISOString()
      const later = { ...deleted, deletion: { ...deleted.deletion!, purgeTime } }

      for (const other of [record, later]) {
        await expect(store().importForm(other)).rejects.toMatchObject(conflict('formId'))
      }
      await undelete(form)
      await expect(store().importForm(deleted)).rejects.toMatchObject(conflict('formId'))
      expect(await store().importForm(record)).toBe('exists')
    })
  })
}
