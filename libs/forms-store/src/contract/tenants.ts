import { randomUUID } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import type { FormsStore, StoredRevision } from '../forms-store.ts'
import {
  edited,
  givenForm,
  newForm,
  newPublicId,
  type OpenStore,
  openStore,
  publish,
  refOf,
  time,
} from './given.ts'

/** Tests of tenant isolation: no organization reads or changes the data of another. */
export const tenantsContract = (open: OpenStore): void => {
  const store = openStore(open)

  /** Every method, called with the id of another organization, and its expected result. */
  const attempts: [
    name: string,
    attempt: (
      store: FormsStore,
      foreign: StoredRevision,
      formRef: string,
      seen: () => never,
    ) => Promise<unknown>,
    outcome: unknown,
  ][] = [
    ['get', (forms, { organizationId }, formRef) => forms.get({ organizationId, formRef }), undefined],
    [
      'list',
      (forms, { organizationId }) => forms.list({ organizationId, orderBy: [], limit: 10, skip: 0 }),
      { forms: [], totalSize: 0 },
    ],
    [
      'listSummaries',
      (forms, { organizationId }) => forms.listSummaries({ organizationId, orderBy: [], limit: 10, skip: 0 }),
      { forms: [], totalSize: 0 },
    ],
    [
      'list, filtered and from a position',
      (forms, { organizationId }) =>
        forms.list({
          organizationId,
          filter: {
            kind: 'or',
            operands: [
              { kind: 'constant', value: true },
              { kind: 'constant', value: true },
            ],
          },
          orderBy: [{ field: 'createTime', descending: false }],
          after: [time(-1000).getTime(), ''],
          limit: 10,
          skip: 0,
        }),
      { forms: [], totalSize: 0 },
    ],
    [
      'update',
      (forms, { organizationId }, formRef, seen) => forms.update({ organizationId, formRef }, seen),
      undefined,
    ],
    [
      'delete',
      (forms, { organizationId }, formRef, seen) => forms.delete({ organizationId, formRef }, seen),
      false,
    ],
    [
      'publish',
      (forms, { organizationId }, formRef, seen) =>
        forms.publish({ organizationId, formRef }, randomUUID(), seen),
      undefined,
    ],
    [
      'publish, repeated',
      (forms, { organizationId, commandId }, formRef, seen) =>
        forms.publish({ organizationId, formRef }, commandId, seen),
      undefined,
    ],
    [
      'listRevisions',
      (forms, { organizationId }, formRef) =>
        forms.listRevisions({ organizationId, formRef, limit: 10, skip: 0 }),
      undefined,
    ],
    [
      'getRevision',
      (forms, foreign, formRef) => forms.getRevision({ ...foreign, formRef }, foreign.revisionId),
      undefined,
    ],
    [
      'getRevision live',
      (forms, foreign, formRef) => forms.getRevision({ ...foreign, formRef }, 'live'),
      undefined,
    ],
    ['recordReplies', (forms, foreign) => forms.recordReplies({ ...foreign, replyIds: [randomUUID()] }), 0],
    ['usage', (forms, { organizationId }) => forms.usage(organizationId), { forms: 0, bytes: 0 }],
  ]

  describe("another organization's form", () => {
    it.each(attempts)('is invisible to %s', async (_, attempt, outcome) => {
      const form = await givenForm(store())
      const revision = await publish(store(), form)
      const before = await store().getRevision(refOf(form), 'live')
      const foreign = { ...revision, organizationId: randomUUID() }
      const seen = vi.fn(() => {
        throw new Error('seen')
      })

      for (const formRef of [form.formId, form.publicId]) {
        expect(await attempt(store(), foreign, formRef, seen)).toEqual(outcome)
      }

      expect(seen).not.toHaveBeenCalled()
      expect(await store().getRevision(refOf(form), 'live')).toEqual(before)
      expect(await store().listRevisions({ ...refOf(form), limit: 10, skip: 0 })).toMatchObject({
        totalSize: 1,
      })
    })

    it('does not change when another organization changes its forms', async () => {
      const form = await givenForm(store(), { draft: { name: 'Same' } })
      const own = await givenForm(store(), { draft: { name: 'Same' } })

      await store().update(refOf(own), (current) => edited(current, { name: 'Mine' }))
      await publish(store(), own)
      await store().delete(refOf(own), () => {})

      expect(await store().get(refOf(form))).toEqual(form)
      expect(await store().create(newForm({ publicId: form.publicId }))).toBeUndefined()
    })
  })

  describe('the organization of a public id', () => {
    it('is the one that has the form', async () => {
      const forms = await Promise.all([givenForm(store()), givenForm(store())])

      const found = await Promise.all(forms.map(({ publicId }) => store().findOrganizationOf(publicId)))

      expect(found).toEqual(forms.map(({ organizationId }) => organizationId))
    })

    it('is undefined for an unused id, a deleted form, or another letter case', async () => {
      const form = await givenForm(store(), { publicId: `aB${newPublicId().slice(2)}` })
      const deleted = await givenForm(store())
      await store().delete(refOf(deleted), () => {})

      const others = [newPublicId(), deleted.publicId, `Ab${form.publicId.slice(2)}`, form.formId, '']
      const found = await Promise.all(others.map((each) => store().findOrganizationOf(each)))

      expect(found).toEqual(others.map(() => undefined))
    })
  })
}
