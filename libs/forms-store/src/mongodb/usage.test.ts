import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { edited, givenForm, publish, refOf, snapshot } from '../contract/given.ts'
import { MongoFormsStore } from './forms-store.ts'
import { startFormsStore } from './testing.ts'

const { url, store, collections, crashAfter } = await startFormsStore()

const minutesAgo = (minutes: number) => Date.now() - minutes * 60_000
/** Sets a wrong usage that is due for a recount a day after `countTime`. */
const drift = (organizationId: string, amounts: { forms: number; bytes: number }, countTime: number) =>
  collections.usage.set(
    { organizationId, _id: organizationId },
    { ...amounts, countTime, dueTime: countTime + 24 * 60 * 60_000 },
  )

describe('usage that has drifted', () => {
  let limited: MongoFormsStore
  beforeAll(() => {
    limited = new MongoFormsStore(url, { quota: { forms: 3, bytes: 0 }, clears: false })
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

  it('is not corrected by a recount during which something changes', async () => {
    const { organizationId } = await givenForm(store)
    await drift(organizationId, { forms: 7, bytes: 0 }, minutesAgo(24 * 60 + 1))
    let counts = 0
    const change = async ({ collection, operation }: { collection: string; operation: string }) => {
      // The first increment is that of the recount.
      if (collection === 'usage' && operation === 'increment' && counts++ === 1) {
        await givenForm(store, { organizationId })
      }
    }
    await using recounting = new MongoFormsStore(url, { clears: false }, { beforeWrite: change })

    await givenForm(recounting, { organizationId })

    expect((await store.usage(organizationId)).forms).toBe(9)
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
  it('leaves bytes too high rather than too low', async () => {
    const form = await givenForm(store)
    const { organizationId } = form
    for (let writes = 0; ; writes++) {
      if (!(await crashAfter(writes, (crashing) => crashing.publish(refOf(form), randomUUID(), snapshot))))
        break
      const { sum: drafts } = await collections.forms.sum({ organizationId }, 'bytes')
      const { sum: snapshots } = await collections.revisions.sum({ organizationId }, 'bytes')
      expect((await store.usage(organizationId)).bytes).toBeGreaterThanOrEqual(drafts + snapshots)
    }
  })
})
