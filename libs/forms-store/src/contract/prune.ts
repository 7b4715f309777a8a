import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { FormRecord } from '@fms/contracts'
import { describe, expect, it } from 'vitest'
import type { FormsStore, StoredForm, StoredRevision } from '../forms-store.ts'
import { minPruneAgeMs, noRevisions, type PruneRule } from '../revisions/revision-growth.ts'
import { toFormRecord } from '../stored-form-record.ts'
import { sequenceAll } from './events/log-of.ts'
import {
  givenForm,
  newForm,
  newRevision,
  type OpenStore,
  type OpenStoreTogether,
  openStore,
  publish,
  refOf,
  revisionOf,
  snapshot,
} from './given.ts'
import { type EngineLimits, numberOfRuns } from './hostile-names.ts'

/** Older than every rule requires. */
const longAgo = (day: number) => new Date(Date.UTC(2020, 0, day))
const now = () => new Date()

interface History {
  /** The numbers of the revisions, oldest first. */
  numbers: number[]
  live: number
  organizationId?: string
  /** Default: a day in 2020 for each number. */
  timeOf?: (number: number) => Date
}

/** A stored form with these revisions. */
const givenHistory = async (
  store: FormsStore,
  { numbers, live, organizationId = randomUUID(), timeOf = longAgo }: History,
): Promise<{ form: StoredForm; revisions: StoredRevision[] }> => {
  const form = newForm({ organizationId, live: live > 0 })
  const revisions = numbers.map((number) => newRevision(form, { number, createTime: timeOf(number) }))
  const liveRevisionId = revisions.find(({ number }) => number === live)?.revisionId ?? null
  const revisionNumber = Math.max(...numbers)
  const history = { revisionNumber, liveNumber: live, liveRevisionId, revisions, replyIds: [] }
  await store.importForm(toFormRecord(form, history))
  return { form, revisions }
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

/** Prunes batch by batch. @returns the sizes of the batches. */
const pruneAll = async (store: FormsStore, form: StoredForm, rule: PruneRule) => {
  const batches = []
  for (;;) {
    const batch = await store.revisionGrowth.prune(form, rule)
    if (batch.revisions === 0) return batches
    batches.push(batch)
  }
}

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)
const bytesOf = (revisions: StoredRevision[]) =>
  sum(revisions.map(({ formJson }) => Buffer.byteLength(formJson)))

/** Tests of pruning and of the figures of revisions. */
export const pruneContract = (
  open: OpenStore,
  openTogether: OpenStoreTogether,
  limits: EngineLimits,
): void => {
  const store = openStore(open)

  const left = async (form: StoredForm) => {
    const page = await store().listRevisions({ ...refOf(form), limit: 1000, skip: 0 })
    const { revisions, totalSize } = page!
    expect(totalSize).toBe(revisions.length)
    return revisions.map(({ revision }) => revision.number).toReversed()
  }

  describe('prune', () => {
    it.each([
      { keep: 1, numbers: [1, 2, 3, 4, 5], live: 5, expected: [5] },
      { keep: 3, numbers: [1, 2, 3, 4, 5], live: 5, expected: [3, 4, 5] },
      { keep: 5, numbers: [1, 2, 3, 4, 5], live: 5, expected: [1, 2, 3, 4, 5] },
      { keep: 6, numbers: [1, 2, 3, 4, 5], live: 5, expected: [1, 2, 3, 4, 5] },
      { keep: 2, numbers: [2, 7, 9, 40], live: 40, expected: [9, 40] },
      // A repeat of the publish of 4 or 5 would still make it live.
      { keep: 1, numbers: [1, 2, 3, 4, 5], live: 3, expected: [3, 4, 5] },
      { keep: 1, numbers: [1, 2, 3], live: 0, expected: [1, 2, 3] },
      // As if it were 1.
      { keep: 0, numbers: [1, 2, 3], live: 3, expected: [3] },
    ])(
      'keeps $expected of $numbers with $live live, for $keep',
      async ({ keep, numbers, live, expected }) => {
        const { form, revisions } = await givenHistory(store(), { numbers, live })
        const gone = revisions.filter(({ number }) => !expected.includes(number))
        const rule = { keep, before: now() }
        const size = { revisions: gone.length, bytes: bytesOf(gone) }

        expect(await store().revisionGrowth.prunable(form, rule)).toEqual(size)
        const batches = await pruneAll(store(), form, rule)

        expect(batches).toEqual(gone.length > 0 ? [size] : [])
        expect(await left(form)).toEqual(expected)
        for (const { revisionId, number } of revisions) {
          const found = await store().getRevision(refOf(form), revisionId)
          expect(found?.revision.number).toBe(expected.includes(number) ? number : undefined)
        }
        const found = await store().getRevision(refOf(form), 'live')
        expect(found?.revision.number).toBe(live || undefined)
        expect(await store().revisionGrowth.prunable(form, rule)).toEqual(noRevisions)
      },
    )

    it('keeps revisions from a time on, and every later number', async () => {
      const days = [1, 2, 5, 3, 6, 7]
      const { form } = await givenHistory(store(), {
        numbers: upTo(6),
        live: 6,
        timeOf: (number) => longAgo(days[number - 1]!),
      })
      const rule = { keep: 1, before: longAgo(5) }

      await pruneAll(store(), form, rule)

      expect(await left(form)).toEqual([3, 4, 5, 6])
    })

    it('keeps revisions of the last day, whatever the rule', async () => {
      const margin = 60_000
      const { form } = await givenHistory(store(), {
        numbers: [1, 2, 3, 4],
        live: 4,
        timeOf: (number) => new Date(Date.now() - minPruneAgeMs + (number === 1 ? -margin : margin)),
      })
      const rule = { keep: 1, before: new Date('2100-01-01T00:00:00Z') }

      await pruneAll(store(), form, rule)

      expect(await left(form)).toEqual([2, 3, 4])
    })

    it('deletes in batches, which together are what prunable measures, and frees their bytes', async () => {
      // SQLite deletes 500 in a batch, MongoDB 100.
      const count = limits.slow ? 210 : 520
      const { form, revisions } = await givenHistory(store(), { numbers: upTo(count), live: count })
      const rule = { keep: 7, before: now() }
      const before = await store().usage(form.organizationId)
      const prunable = await store().revisionGrowth.prunable(form, rule)

      const batches = await pruneAll(store(), form, rule)

      expect(prunable).toEqual({ revisions: count - 7, bytes: bytesOf(revisions.slice(0, -7)) })
      expect(batches.length).toBeGreaterThan(1)
      for (const batch of batches) expect(batch.revisions).toBeLessThanOrEqual(500)
      expect(sum(batches.map((each) => each.revisions))).toBe(prunable.revisions)
      expect(sum(batches.map((each) => each.bytes))).toBe(prunable.bytes)
      expect(await store().usage(form.organizationId)).toEqual({
        forms: 1,
        bytes: before.bytes - prunable.bytes,
      })
      expect(await left(form)).toEqual(upTo(count).slice(-7))
    })

    it('ends a batch once it has 4 MiB, or 100 revisions', async () => {
      const form = newForm({ draft: { context: ['x'.repeat(700 * 1024)] }, live: true })
      const revisions = upTo(12).map((number) => newRevision(form, { number, createTime: longAgo(number) }))
      const { revisionId: liveRevisionId } = revisions.at(-1)!
      const history = { revisionNumber: 12, liveNumber: 12, liveRevisionId, revisions, replyIds: [] }
      await store().importForm(toFormRecord(form, history))

      const batches = await pruneAll(store(), form, { keep: 1, before: now() })

      expect(sum(batches.map((each) => each.revisions))).toBe(11)
      for (const { bytes, revisions } of batches) {
        expect(bytes < 5 * 1024 * 1024 || revisions <= 100).toBe(true)
      }
    })

    it('leaves a record that can be exported and imported', async () => {
      const { form } = await givenHistory(store(), { numbers: upTo(5), live: 5 })
      await pruneAll(store(), form, { keep: 2, before: now() })

      const [record] = await Array.fromAsync(store().exportForms(form.organizationId))

      expect(FormRecord.parse(record)).toEqual(record)
      expect(record!.revisions.map(({ number }) => number)).toEqual([4, 5])
      expect(await store().importForm(record!)).toBe('exists')
      await store().delete(refOf(form), () => {})
      expect(await store().importForm(record!)).toBe('imported')
      expect(await left(form)).toEqual([4, 5])
    })

    it('continues the numbers, and lets a pruned command publish again, also another form', async () => {
      const { form, revisions } = await givenHistory(store(), { numbers: upTo(4), live: 4 })
      const { organizationId } = form
      await pruneAll(store(), form, { keep: 1, before: now() })
      const other = await givenForm(store(), { organizationId })
      const [first, second, , last] = revisions.map(({ commandId }) => commandId)

      expect(await revisionOf(store(), organizationId, first!)).toBeUndefined()
      expect(await publish(store(), form, first)).toMatchObject({ number: 5 })
      expect(await publish(store(), other, second)).toMatchObject({ formId: other.formId, number: 1 })
      expect(await store().publish(refOf(other), last!, snapshot)).toBe('elsewhere')
      expect(await left(form)).toEqual([4, 5])
    })

    it('keeps the command of a publish that is repeated after its revision was pruned', async () => {
      const { form, revisions } = await givenHistory(store(), { numbers: upTo(3), live: 3 })
      const { organizationId } = form
      const { commandId } = revisions[0]!
      await store().publish(refOf(form), commandId, snapshot)
      await pruneAll(store(), form, { keep: 1, before: now() })

      await publish(store(), form, commandId)

      const other = await givenForm(store(), { organizationId })
      expect(await store().publish(refOf(other), commandId, snapshot)).toBe('elsewhere')
    })

    it('does nothing to another form, or to one of another organization', async () => {
      const { form } = await givenHistory(store(), { numbers: upTo(3), live: 3 })
      const { form: other } = await givenHistory(store(), { ...form, numbers: upTo(3), live: 3 })
      const rule = { keep: 1, before: now() }

      for (const path of [{ ...form, organizationId: randomUUID() }, newForm()]) {
        expect(await store().revisionGrowth.prune(path, rule)).toEqual(noRevisions)
        expect(await store().revisionGrowth.prunable(path, rule)).toEqual(noRevisions)
      }
      await pruneAll(store(), form, rule)

      expect(await left(form)).toEqual([3])
      expect(await left(other)).toEqual([1, 2, 3])
    })

    it('records no event and changes neither the form nor its ETag', async () => {
      const { form } = await givenHistory(store(), { numbers: upTo(3), live: 3 })
      const before = await store().get(refOf(form))
      await sequenceAll(store())
      const range = await store().events.range(form.organizationId)

      await pruneAll(store(), form, { keep: 1, before: now() })

      expect(await store().get(refOf(form))).toEqual(before)
      await sequenceAll(store())
      expect(await store().events.range(form.organizationId)).toEqual(range)
    })

    it('never removes the live revision, while two processes prune and two others publish and read', async () => {
      const processes = await openTogether(4)
      try {
        const [publisher, reader, ...pruners] = processes as [FormsStore, FormsStore, FormsStore, FormsStore]
        const form = await givenForm(publisher)
        const old = (current: StoredForm) => ({ ...snapshot(current), createTime: longAgo(1) })
        await publisher.publish(refOf(form), randomUUID(), old)
        let isDone = false
        const untilDone = async (work: () => Promise<unknown>) => {
          while (!isDone) {
            await work()
            // An engine in this process returns without an iteration of the event loop.
            await nextTurn()
          }
        }

        const others = [
          ...pruners.map((each) =>
            untilDone(() => each.revisionGrowth.prune(form, { keep: 1, before: now() })),
          ),
          untilDone(async () => expect(await reader.getRevision(refOf(form), 'live')).toBeDefined()),
          untilDone(async () => expect(await reader.getRevisionState(refOf(form), 'live')).toBeDefined()),
        ]
        const publishes = numberOfRuns(limits, 30, 12)
        for (let count = 0; count < publishes; count++) {
          expect(await publisher.publish(refOf(form), randomUUID(), old)).toMatchObject({ live: true })
        }
        isDone = true
        await Promise.all(others)
        await pruneAll(pruners[0]!, form, { keep: 1, before: now() })

        const page = await reader.listRevisions({ ...refOf(form), limit: 100, skip: 0 })
        expect(page!.revisions.map(({ revision, live }) => [revision.number, live])).toEqual([
          [publishes + 1, true],
        ])
      } finally {
        await Promise.all(processes.map((each) => each.close()))
      }
    })
  })

  describe('formsToPrune', () => {
    it('has the forms of the organization that were published more often, in order', async () => {
      const organizationId = randomUUID()
      const forms = []
      for (const count of [1, 2, 3, 4]) {
        forms.push((await givenHistory(store(), { organizationId, numbers: upTo(count), live: count })).form)
      }
      await givenForm(store(), { organizationId })
      await givenHistory(store(), { numbers: upTo(5), live: 5 })
      const byPublicId = (a: StoredForm, b: StoredForm) => (a.publicId < b.publicId ? -1 : 1)

      const found = await Array.fromAsync(store().revisionGrowth.formsToPrune(organizationId, 2))

      expect(found).toEqual(
        forms
          .slice(2)
          .toSorted(byPublicId)
          .map(({ formId }) => ({ organizationId, formId })),
      )
    })
  })

  describe('formsWithMany', () => {
    it('leaves out forms that were published often and have few revisions', async () => {
      const form = newForm({ live: true })
      const revisions = [newRevision(form, { number: 20_000 })]
      const { revisionId: liveRevisionId } = revisions[0]!
      const history = { revisionNumber: 20_000, liveNumber: 20_000, liveRevisionId, revisions, replyIds: [] }
      await store().importForm(toFormRecord(form, history))

      const found = await store().revisionGrowth.formsWithMany(1000)

      expect(found.map(({ formId }) => formId)).not.toContain(form.formId)
    })
  })

  describe('total', () => {
    it('counts the revisions of all organizations and their bytes, until they are cleared', async () => {
      const [fresh] = (await openTogether(1)) as [FormsStore]
      try {
        expect(await fresh.revisionGrowth.total()).toEqual(noRevisions)
        const one = await givenHistory(fresh, { numbers: upTo(5), live: 5 })
        const two = await givenForm(fresh)
        const published = await publish(fresh, two)
        const all = [...one.revisions, published]

        expect(await fresh.revisionGrowth.total()).toEqual({ revisions: 6, bytes: bytesOf(all) })
        await pruneAll(fresh, one.form, { keep: 2, before: now() })
        expect(await fresh.revisionGrowth.total()).toEqual({ revisions: 3, bytes: bytesOf(all.slice(3)) })
        await fresh.delete(refOf(two), () => {})
        await expect
          .poll(() => fresh.revisionGrowth.total(), { timeout: 10_000 })
          .toEqual({ revisions: 2, bytes: bytesOf(all.slice(3, 5)) })
      } finally {
        await fresh.close()
      }
    })
  })
}
