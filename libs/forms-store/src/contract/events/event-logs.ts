import { randomUUID } from 'node:crypto'
import { type FormEvent, formatSequence } from '@fms/contracts'
import { describe, expect, it } from 'vitest'
import type { FormsStore, StoredForm } from '../../forms-store.ts'
import {
  edited,
  givenForm,
  type OpenStore,
  type OpenStoreTogether,
  openStore,
  refOf,
  time,
} from '../given.ts'
import { logOf, sequenceAll, sequencesOf } from './log-of.ts'

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)

/** Tests of the methods of `EventLog`. */
export const eventLogsContract = (open: OpenStore, openTogether: OpenStoreTogether): void => {
  const shared = openStore(open)
  /** A store without data of other tests. */
  const own = openStore(async () => (await openTogether(1))[0]!)

  /** A form with `count` events, one per second from `start` on. */
  const givenEvents = async (
    count: number,
    fields: Partial<StoredForm> = {},
    start = time(0),
    store = shared,
  ) => {
    const at = (index: number) => new Date(start.getTime() + index * 1_000)
    const form = await givenForm(store(), { ...fields, createTime: at(0) })
    for (let index = 1; index < count; index++) {
      const change = (current: StoredForm) => ({ ...edited(current, {}), updateTime: at(index) })
      await store().update(refOf(form), change)
    }
    await sequenceAll(store())
    return form
  }

  describe('read', () => {
    it('returns pages of any size in both directions', async () => {
      const { organizationId } = await givenEvents(7)
      const pages = async (limit: number, descending: boolean) => {
        const seen: number[] = []
        for (;;) {
          const last = seen.at(-1)
          const bound = last === undefined ? {} : descending ? { to: last - 1 } : { from: last + 1 }
          const page = await shared().events.read({ organizationId, descending, limit, ...bound })
          if (page.length === 0) return seen
          seen.push(...sequencesOf(page))
        }
      }

      for (const limit of [1, 2, 3, 7, 8]) {
        expect(await pages(limit, false)).toEqual(numbers(1, 7))
        expect(await pages(limit, true)).toEqual(numbers(1, 7).reverse())
      }
    })

    it('returns the events between two positions, inclusive', async () => {
      const { organizationId } = await givenEvents(6)
      const read = async (from: number, to: number, descending = false) =>
        sequencesOf(await shared().events.read({ organizationId, from, to, descending, limit: 10 }))

      expect(await read(2, 4)).toEqual([2, 3, 4])
      expect(await read(2, 4, true)).toEqual([4, 3, 2])
      expect(await read(5, Number.MAX_SAFE_INTEGER)).toEqual([5, 6])
      expect(await read(7, Number.MAX_SAFE_INTEGER)).toEqual([])
      expect(await read(4, 3)).toEqual([])
    })

    it('returns the events of one form, in both directions', async () => {
      const { organizationId, formId } = await givenEvents(2)
      await givenEvents(3, { organizationId })
      const form = { organizationId, formRef: formId }
      await shared().update(form, (current) => edited(current, {}))
      await sequenceAll(shared())
      const read = async (query: object) =>
        sequencesOf(await shared().events.read({ organizationId, formId, limit: 10, ...query }))

      expect(await read({})).toEqual([1, 2, 6])
      expect(await read({ descending: true })).toEqual([6, 2, 1])
      expect(await read({ from: 2, limit: 1 })).toEqual([2])
      expect(await read({ to: 5, descending: true, limit: 1 })).toEqual([2])
      expect(await read({ formId: randomUUID() })).toEqual([])
    })

    it('returns nothing of another organization', async () => {
      const [form, other] = [await givenEvents(2), await givenEvents(1)]
      const { formId } = form
      const { organizationId } = other

      expect(await shared().events.read({ organizationId, formId, limit: 10 })).toEqual([])
      expect(await shared().events.read({ organizationId: randomUUID(), limit: 10 })).toEqual([])
      expect(await logOf(shared(), organizationId)).toHaveLength(1)
    })
  })

  describe('get', () => {
    it('finds an event of the organization by id, in any letter case', async () => {
      const { organizationId } = await givenEvents(2)
      const [, event] = await logOf(shared(), organizationId)

      expect(await shared().events.get(organizationId, event!.id)).toEqual(event)
      expect(await shared().events.get(organizationId, event!.id.toUpperCase())).toEqual(event)
      expect(await shared().events.get(randomUUID(), event!.id)).toBeUndefined()
      for (const id of [randomUUID(), 'nonsense', '']) {
        expect(await shared().events.get(organizationId, id)).toBeUndefined()
      }
    })
  })

  const unstreamedOf = async (organizationId: string) =>
    (await shared().events.findUnstreamed(10_000)).find((log) => log.organizationId === organizationId)

  describe('the position in the stream', () => {
    it('is behind from the first event on, until all are marked', async () => {
      const { organizationId } = await givenEvents(3)
      const behind = (streamedSequence: number) => ({ organizationId, streamedSequence, lastSequence: 3 })

      expect(await unstreamedOf(organizationId)).toEqual(behind(0))
      await shared().events.markStreamed(organizationId, 2)
      expect(await unstreamedOf(organizationId)).toEqual(behind(2))
      await shared().events.markStreamed(organizationId, 1)
      expect(await unstreamedOf(organizationId)).toEqual(behind(2))
      await shared().events.markStreamed(organizationId, 3)
      expect(await unstreamedOf(organizationId)).toBeUndefined()
    })

    it('is known for each log', async () => {
      const { organizationId } = await givenEvents(3)

      expect(await shared().events.streamedSequence(organizationId)).toBe(0)
      await shared().events.markStreamed(organizationId, 2)
      expect(await shared().events.streamedSequence(organizationId)).toBe(2)
      expect(await shared().events.streamedSequence(randomUUID())).toBe(0)
    })

    it('is behind again after a further event', async () => {
      const form = await givenEvents(1)
      const { organizationId } = form
      await shared().events.markStreamed(organizationId, 1)

      await shared().update(refOf(form), (current) => edited(current, {}))
      await sequenceAll(shared())

      expect(await unstreamedOf(organizationId)).toEqual({
        organizationId,
        streamedSequence: 1,
        lastSequence: 2,
      })
    })

    it('limits the logs that are found', async () => {
      await givenEvents(1)
      await givenEvents(1)

      expect(await shared().events.findUnstreamed(1)).toHaveLength(1)
    })
  })

  describe('backlog', () => {
    it('counts recorded events until they are in the stream, and has the time of the oldest', async () => {
      const count = async () => {
        const { pending, unstreamed } = await own().events.backlog()
        return pending + unstreamed
      }
      expect(await own().events.backlog()).toEqual({ pending: 0, unstreamed: 0 })
      const older = await givenForm(own(), { createTime: time(0) })
      expect(await count()).toBe(1)
      await own().update(refOf(older), (current) => edited(current, {}))
      const newer = await givenForm(own(), { createTime: time(5) })
      expect(await count()).toBe(3)

      await sequenceAll(own())

      expect(await own().events.backlog()).toEqual({ pending: 0, unstreamed: 3, oldestTime: time(0) })
      await own().events.markStreamed(older.organizationId, 1)
      expect(await own().events.backlog()).toEqual({ pending: 0, unstreamed: 2, oldestTime: time(1) })
      await own().events.markStreamed(older.organizationId, 2)
      expect(await own().events.backlog()).toEqual({ pending: 0, unstreamed: 1, oldestTime: time(5) })
      await own().events.markStreamed(newer.organizationId, 1)
      expect(await own().events.backlog()).toEqual({ pending: 0, unstreamed: 0 })
    })
  })

  describe('logs', () => {
    it('lists each organization with events once, in order', async () => {
      const forms = [await givenEvents(1), await givenEvents(3), await givenEvents(2)]
      await shared().events.markStreamed(forms[1]!.organizationId, 2)

      const logs = await Array.fromAsync(shared().events.logs())

      const ids = logs.map(({ organizationId }) => organizationId)
      expect(ids).toEqual([...new Set(ids)].sort())
      const found = forms.map(({ organizationId }) =>
        logs.find((log) => log.organizationId === organizationId),
      )
      expect(found).toEqual([
        { organizationId: forms[0]!.organizationId, streamedSequence: 0, lastSequence: 1 },
        { organizationId: forms[1]!.organizationId, streamedSequence: 2, lastSequence: 3 },
        { organizationId: forms[2]!.organizationId, streamedSequence: 0, lastSequence: 2 },
      ])
    })
  })

  describe('prune', () => {
    const start = new Date('2001-01-01T00:00:00.000Z')
    const after = (seconds: number) => new Date(start.getTime() + seconds * 1_000)

    const givenOld = (count: number, fields = {}, first = start) => givenEvents(count, fields, first, own)

    const pruneAll = async (before: Date, limit = 100) => {
      let [total, pruned] = [0, 0]
      do {
        pruned = await own().events.prune(before, limit)
        expect(pruned).toBeLessThanOrEqual(limit)
        total += pruned
      } while (pruned > 0)
      return total
    }

    it('deletes streamed events before a time, in batches, and the sequence goes on', async () => {
      const form = await givenOld(6)
      const { organizationId } = form
      await own().events.markStreamed(organizationId, 6)

      expect(await own().events.prune(after(0), 100)).toBe(0)
      expect(await own().events.prune(after(3), 2)).toBe(2)
      expect(await own().events.prune(after(3), 2)).toBe(1)
      expect(await own().events.prune(after(3), 2)).toBe(0)

      expect(sequencesOf(await logOf(own(), organizationId))).toEqual([4, 5, 6])
      expect(await own().events.range(organizationId)).toEqual({ oldestSequence: 4, lastSequence: 6 })
      await own().update(refOf(form), (current) => edited(current, {}))
      expect(sequencesOf(await logOf(own(), organizationId))).toEqual([4, 5, 6, 7])
      await own().events.markStreamed(organizationId, 7)
      await pruneAll(after(10))
    })

    it('keeps the newest event of each organization, until there is a newer one', async () => {
      const form = await givenOld(3)
      const { organizationId } = form
      await own().events.markStreamed(organizationId, 3)

      expect(await pruneAll(after(100))).toBe(2)
      expect(await own().events.range(organizationId)).toEqual({ oldestSequence: 3, lastSequence: 3 })

      const change = (current: StoredForm) => ({ ...edited(current, {}), updateTime: after(50) })
      await own().update(refOf(form), change)
      await sequenceAll(own())
      expect(await own().events.range(organizationId)).toEqual({ oldestSequence: 3, lastSequence: 4 })
      await own().events.markStreamed(organizationId, 4)
      expect(await pruneAll(after(100))).toBe(1)
      expect(await own().events.range(organizationId)).toEqual({ oldestSequence: 4, lastSequence: 4 })
    })

    it('keeps events that are not in the stream, however old', async () => {
      const { organizationId } = await givenOld(5)
      expect(await pruneAll(after(100))).toBe(0)

      await own().events.markStreamed(organizationId, 2)

      expect(await pruneAll(after(100))).toBe(2)
      expect(sequencesOf(await logOf(own(), organizationId))).toEqual([3, 4, 5])
    })

    it('passes over organizations whose oldest event is not in the stream', async () => {
      await givenOld(2)
      const { organizationId } = await givenOld(2, {}, after(10))
      await own().events.markStreamed(organizationId, 2)

      expect(await own().events.prune(after(100), 1)).toBe(1)

      expect(await own().events.range(organizationId)).toEqual({ oldestSequence: 2, lastSequence: 2 })
    })

    it('never leaves a gap: an event stays while an earlier one of its organization does', async () => {
      const { organizationId } = await givenOld(1, {}, after(1_000))
      await givenOld(3, { organizationId })
      await own().events.markStreamed(organizationId, 4)

      expect(await pruneAll(after(500))).toBe(0)

      expect(sequencesOf(await logOf(own(), organizationId))).toEqual([1, 2, 3, 4])
      expect(await pruneAll(after(2_000))).toBe(3)
    })

    describe('with a bound for each log', () => {
      /** A store without old logs of other tests. */
      const bounded = openStore(async () => (await openTogether(1))[0]!)
      const givenLog = async (count: number, streamed: number, first = start) => {
        const { organizationId } = await givenEvents(count, {}, first, bounded)
        await bounded().events.markStreamed(organizationId, streamed)
        return organizationId
      }
      const prune = (limit: number, maxEvents: number) => bounded().events.prune(start, limit, maxEvents)
      const rangeOf = async (organizationId: string) => {
        const { oldestSequence, lastSequence } = await bounded().events.range(organizationId)
        return [oldestSequence, lastSequence]
      }

      it('deletes streamed events beyond the newest ones, in batches', async () => {
        const organizationId = await givenLog(9, 8)

        expect(await prune(100, 0)).toBe(0)
        expect(await prune(100, 8)).toBe(0)
        expect([await prune(3, 4), await prune(3, 4), await prune(3, 4)]).toEqual([3, 1, 0])

        expect(await rangeOf(organizationId)).toEqual([5, 9])
        await bounded().events.markStreamed(organizationId, 9)
        expect([await prune(100, 4), await rangeOf(organizationId)]).toEqual([1, [6, 9]])
        expect([await prune(100, 1), await rangeOf(organizationId)]).toEqual([3, [9, 9]])
      })

      it('keeps the events of the last day, however many, and goes on with other logs', async () => {
        const young = await givenLog(5, 5, new Date(Date.now() - 23 * 3_600_000))
        const old = await givenLog(3, 3)

        // A batch looks at one log here.
        expect([await prune(1, 1), await prune(1, 1), await prune(1, 1)]).toEqual([1, 1, 0])

        expect(await rangeOf(young)).toEqual([1, 5])
        expect(await rangeOf(old)).toEqual([3, 3])
      })

      it('bounds a copied log by the events that were copied', async () => {
        const organizationId = await givenLog(5, 0)
        const copy = randomUUID()
        for (const event of (await logOf(bounded(), organizationId)).slice(2)) {
          const copied = JSON.stringify(event).replaceAll(organizationId, copy)
          await bounded().events.importEvent(JSON.parse(copied))
        }
        await bounded().events.markStreamed(copy, 5)

        expect([await prune(100, 3), await prune(100, 2)]).toEqual([0, 1])

        expect(await rangeOf(copy)).toEqual([4, 5])
      })
    })

    it('shares a batch among organizations', async () => {
      const forms = [await givenOld(3), await givenOld(3)]
      for (const { organizationId } of forms) await own().events.markStreamed(organizationId, 3)

      expect(await pruneAll(after(100), 3)).toBe(4)

      for (const { organizationId } of forms) {
        expect(await own().events.range(organizationId)).toEqual({ oldestSequence: 3, lastSequence: 3 })
      }
    })
  })

  describe('importEvent', () => {
    const target = openStore(open)

    /** A log that only the source has. The target may be the same store: there the organization has another id. */
    const givenLog = async (count: number) => {
      const form = await givenEvents(count)
      const { organizationId } = form
      const log = await logOf(shared(), organizationId)
      // So that the form's id is free.
      await shared().delete(refOf(form), () => {})
      const copy = randomUUID()
      const events: FormEvent[] = JSON.parse(JSON.stringify(log).replaceAll(organizationId, copy))
      return { organizationId: copy, events }
    }

    const conflict = ({ source, id, sequence }: FormEvent) => ({
      status: 'ALREADY_EXISTS',
      reason: 'EVENT_CONFLICT',
      parts: { metadata: { source, event: id, sequence } },
    })

    const importAll = async (forms: FormsStore, events: FormEvent[]) => {
      for (const event of events) await forms.events.importEvent(event)
    }

    it('copies a log, whose sequence goes on', async () => {
      const { organizationId, events } = await givenLog(4)

      for (const event of events) expect(await target().events.importEvent(event)).toBe('imported')
      for (const event of events) expect(await target().events.importEvent(event)).toBe('exists')

      expect(await logOf(target(), organizationId)).toEqual(events)
      expect(await target().events.get(organizationId, events[2]!.id)).toEqual(events[2])
      await givenForm(target(), { organizationId })
      expect(sequencesOf(await logOf(target(), organizationId))).toEqual([1, 2, 3, 4, 5])
    })

    it('keeps the times of a form increasing', async () => {
      const { organizationId, events } = await givenLog(3)
      await importAll(target(), events)
      const formId = events[0]!.subject.split('/').at(-1)!

      await givenForm(target(), { organizationId, formId, createTime: time(0) })

      const log = await logOf(target(), organizationId)
      expect(Date.parse(log[3]!.time)).toBe(Date.parse(log[2]!.time) + 1)
    })

    it('accepts an event of a type and with members that this release does not know', async () => {
      const { organizationId, events } = await givenLog(1)
      const [event] = events
      const later = {
        ...event!,
        type: 'form.future',
        data: { ...event!.data, more: { a: [1] } },
        extension: 'x',
      }

      expect(await target().events.importEvent(later)).toBe('imported')

      expect(await logOf(target(), organizationId)).toEqual([later])
    })

    it('copies a log whose first events retention has removed: those were in the stream', async () => {
      const { organizationId, events } = await givenLog(5)

      await importAll(target(), events.slice(2))

      expect(await target().events.range(organizationId)).toEqual({ oldestSequence: 3, lastSequence: 5 })
      const logs = await Array.fromAsync(target().events.logs())
      expect(logs.find((log) => log.organizationId === organizationId)).toEqual({
        organizationId,
        streamedSequence: 2,
        lastSequence: 5,
      })
    })

    it('rejects another event at the position, and changes nothing', async () => {
      const { organizationId, events } = await givenLog(2)
      await importAll(target(), events)
      const [first, second] = events as [FormEvent, FormEvent]
      const others = [
        { ...first, id: randomUUID() },
        { ...first, time: second.time },
        { ...second, data: { ...second.data, name: 'Other' } },
        { ...second, id: first.id },
      ]

      for (const other of others) {
        await expect(target().events.importEvent(other)).rejects.toMatchObject(conflict(other))
      }

      expect(await logOf(target(), organizationId)).toEqual(events)
    })

    it('rejects an event that does not follow the last one', async () => {
      const { organizationId, events } = await givenLog(4)
      await importAll(target(), events.slice(1, 2))
      const [first, , , fourth] = events as [FormEvent, FormEvent, FormEvent, FormEvent]
      const again = { ...events[1]!, sequence: formatSequence(3) }

      for (const event of [first, fourth, again]) {
        await expect(target().events.importEvent(event)).rejects.toMatchObject(conflict(event))
      }

      expect(await logOf(target(), organizationId)).toEqual([events[1]])
    })
  })
}
