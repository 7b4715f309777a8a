import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { edited, givenForm, newForm, publish, refOf } from '../contract/given.ts'
import { migrateFormsStore } from '../open-forms-store.ts'
import { MongoFormsStore } from './forms-store.ts'
import { startFormsStore } from './testing.ts'

const { url, store, collections, crashAfter } = await startFormsStore()

const minutesAgo = (minutes: number) => Date.now() - minutes * 60_000
const drift = (organizationId: string, amounts: { forms: number; bytes: number }, countTime: number) =>
  collections.usage.set({ organizationId, _id: organizationId }, { ...amounts, countTime })

describe('usage that has drifted', () => {
  let limited: MongoFormsStore
  beforeAll(() => {
    limited = new MongoFormsStore(url, { quota: { forms: 3, bytes: 0 } }, { clears: false })
    return () => limited.close()
  })

  it('is recomputed before a rejection', async () => {
    const form = await givenForm(limited)
    const { organizationId } = form
    await publish(limited, form)
    const truth = await limited.usage(organizationId)
    await drift(organizationId, { forms: 3, bytes: 7 }, minutesAgo(2))

    await limited.checkQuota(organizationId, { forms: 1, bytes: 0 })
    expect(await limited.usage(organizationId)).toEqual(truth)
    await drift(organizationId, { forms: 3, bytes: 7 }, minutesAgo(2))
    const other = await givenForm(limited, { organizationId })

    const bytes = truth.bytes + Buffer.byteLength(other.draftJson)
    expect(await limited.usage(organizationId)).toEqual({ forms: 2, bytes })
  })

  it('is recomputed at most once a minute', async () => {
    const { organizationId } = await givenForm(limited)
    await drift(organizationId, { forms: 3, bytes: 7 }, minutesAgo(0.5))

    await expect(givenForm(limited, { organizationId })).rejects.toMatchObject({ reason: 'QUOTA_EXCEEDED' })
    expect(await limited.usage(organizationId)).toEqual({ forms: 3, bytes: 7 })
  })

  it('is recomputed after a day, also when it was too low', async () => {
    const form = await givenForm(limited)
    const { organizationId } = form
    await drift(organizationId, { forms: -5, bytes: -5 }, minutesAgo(24 * 60 + 1))

    await limited.update(refOf(form), (current) => edited(current, { name: 'A longer name than before' }))

    const { draftJson } = (await limited.get(refOf(form)))!
    expect(await limited.usage(organizationId)).toEqual({ forms: 1, bytes: Buffer.byteLength(draftJson) })
  })
})

describe('a crash between two writes', () => {
  it('leaves usage too high rather than too low', async () => {
    const { organizationId } = await givenForm(store)
    for (let writes = 0; ; writes++) {
      const form = newForm({ organizationId })
      if (!(await crashAfter(writes, (crashing) => crashing.create(form)))) break
      const counted = await collections.forms.count({ organizationId })
      expect((await store.usage(organizationId)).forms).toBeGreaterThanOrEqual(counted)
    }
  })
})

describe('formctl migrate', () => {
  it('adds the missing fields to documents of the previous release, and counts them', async () => {
    const form = newForm({ draft: { name: 'Größe', aiHandoff: { enabled: true } } })
    await store.create(form)
    const revision = await publish(store, form)
    const { organizationId, formId } = form
    const before = await store.usage(organizationId)
    const [document] = await Array.fromAsync(collections.forms.find({ organizationId }))
    const [snapshot] = await Array.fromAsync(collections.revisions.find({ organizationId }))
    const { aiHandoff: _, bytes: __, ...oldForm } = document!
    const { bytes: ___, ...oldRevision } = snapshot!
    await collections.forms.deleteOne({ organizationId, _id: formId })
    await collections.forms.insert(oldForm)
    await collections.revisions.deleteOne({ organizationId, revisionId: revision.revisionId })
    await collections.revisions.insert(oldRevision)
    await collections.usage.deleteOne({ organizationId, _id: organizationId })
    expect(await store.get(refOf(form))).toMatchObject({ aiHandoff: true, name: 'Größe' })

    await migrateFormsStore(url)

    expect(await collections.forms.findOne({ organizationId, _id: formId })).toEqual(document)
    expect(await collections.revisions.findOne({ organizationId })).toEqual(snapshot)
    expect(await store.usage(organizationId)).toEqual(before)
    expect(await store.usage(randomUUID())).toEqual({ forms: 0, bytes: 0 })
  })
})
