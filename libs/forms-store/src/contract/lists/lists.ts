import { randomUUID } from 'node:crypto'
import { formOrderFields } from '@fms/contracts'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { FormMetadata, FormsStore, ListFormsQuery, ListReport, StoredForm } from '../../forms-store.ts'
import { completeFormOrder, type FormOrderTerm } from '../../lists/form-fields.ts'
import { edited, givenForm, newForm, type OpenStore, openStore, refOf, time } from '../given.ts'
import { type EngineLimits, hostileNames, numberOfRuns } from '../hostile-names.ts'
import { filterOf } from './filters.ts'
import { comparing, inOrder } from './plain-order.ts'

const singleOrders = formOrderFields.flatMap((field) => [
  [{ field, descending: false }],
  [{ field, descending: true }],
])
const twoFieldOrders = singleOrders.flatMap((first) =>
  singleOrders
    .filter((second) => second[0]!.field !== first[0]!.field)
    .map((second) => [...first, ...second]),
)

const inWords = (orderBy: readonly FormOrderTerm[]) =>
  orderBy.map(({ field, descending }) => `${field}${descending ? ' desc' : ''}`).join(', ')

type Range = Pick<ListFormsQuery, 'organizationId' | 'orderBy' | 'filter'>

/** All pages of a list. */
const pagesOf = async (store: FormsStore, range: Range, limit: number): Promise<StoredForm[][]> => {
  const pages: StoredForm[][] = []
  let after: ListFormsQuery['after']
  do {
    const { forms, next } = await store.list({ ...range, limit, skip: 0, ...(after && { after }) })
    pages.push(forms)
    after = next
  } while (after)
  return pages
}

const idsOf = (forms: FormMetadata[]) => forms.map(({ formId }) => formId)

/** Tests of lists without filters. */
export const listsContract = (open: OpenStore, limits: EngineLimits): void => {
  const store = openStore(open)
  const byCreateTime: FormOrderTerm[] = [{ field: 'createTime', descending: false }]

  describe('an order', () => {
    const organizationId = randomUUID()
    // Few distinct values per field, so that ties are common.
    const names = hostileNames
    const forms = [...names, ...names.slice(0, 20)].map((name, index) =>
      newForm({
        organizationId,
        createTime: time(index % 3),
        updateTime: time(-(index % 5)),
        replyCount: [0, 9, 10][index % 3]!,
        draft: { name },
      }),
    )

    beforeAll(async () => {
      // Not all at once: on a loaded machine, the last ones would wait too long for a connection to MongoDB.
      for (const form of forms) await store().create(form)
      await Promise.all(hostileNames.slice(0, 10).map((name) => givenForm(store(), { draft: { name } })))
    })

    it.each(singleOrders.map((orderBy) => [inWords(orderBy), orderBy]))('by %s', async (_, orderBy) => {
      const page = await store().list({
        organizationId,
        orderBy: orderBy as FormOrderTerm[],
        limit: 1000,
        skip: 0,
      })

      expect(page.forms).toEqual(inOrder(forms, orderBy as FormOrderTerm[]))
    })

    it('of any two fields continues from page to page', async () => {
      const property = fc.asyncProperty(fc.constantFrom(...twoFieldOrders), async (orderBy) => {
        const pages = await pagesOf(store(), { organizationId, orderBy }, 17)

        expect(idsOf(pages.flat()), inWords(orderBy)).toEqual(idsOf(inOrder(forms, orderBy)))
      })
      await fc.assert(property, { numRuns: numberOfRuns(limits, 120, 4) })
    })

    it('is most recently updated first by default', async () => {
      const pages = await pagesOf(store(), { organizationId, orderBy: [] }, 7)

      expect(pages.flat()).toEqual(inOrder(forms, []))
    })

    it('by name compares code points, also beyond the basic multilingual plane', async () => {
      const own = randomUUID()
      const inOrder = ['\uD7FF', '\uE000', '\uFFFF', '\u{10000}', '\u{10FFFF}']
      for (const name of inOrder.toReversed()) {
        await givenForm(store(), { organizationId: own, draft: { name } })
      }

      const orderBy = [{ field: 'name' as const, descending: false }]
      const pages = await pagesOf(store(), { organizationId: own, orderBy }, 2)

      expect(pages.flat().map(({ name }) => name)).toEqual(inOrder)
    })

    it('follows a changed name', async () => {
      const own = randomUUID()
      const [first, second] = [
        await givenForm(store(), { organizationId: own, draft: { name: 'a' } }),
        await givenForm(store(), { organizationId: own, draft: { name: 'b' } }),
      ]
      await store().update(refOf(first), (current) => edited(current, { name: 'c' }))

      const pages = await pagesOf(
        store(),
        { organizationId: own, orderBy: [{ field: 'name', descending: false }] },
        1,
      )

      expect(idsOf(pages.flat())).toEqual(idsOf([second, first]))
    })
  })

  describe('a page', () => {
    it('has a next position as long as forms follow', async () => {
      const organizationId = randomUUID()
      for (let count = 0; count < 6; count++) await givenForm(store(), { organizationId })

      const sizes = async (limit: number) =>
        (await pagesOf(store(), { organizationId, orderBy: [] }, limit)).map((page) => page.length)

      expect(await sizes(4)).toEqual([4, 2])
      expect(await sizes(3)).toEqual([3, 3])
      expect(await sizes(6)).toEqual([6])
      expect(await sizes(1000)).toEqual([6])
    })

    it('has the number of matches, also when it skips all of them', async () => {
      const organizationId = randomUUID()
      const query = { organizationId, orderBy: [], limit: 2 }
      expect(await store().list({ ...query, skip: 0 })).toEqual({ forms: [], totalSize: 0 })
      for (let count = 0; count < 3; count++) await givenForm(store(), { organizationId })

      expect(await store().list({ ...query, skip: 1 })).toMatchObject({ forms: [{}, {}], totalSize: 3 })
      for (const skip of [3, 4, 2 ** 31 - 1]) {
        expect(await store().list({ ...query, skip })).toEqual({ forms: [], totalSize: 3 })
      }
    })

    it.each(['list', 'listSummaries'] as const)('reports the index of a page: %s', async (method) => {
      const { organizationId } = await givenForm(store())
      const planOf = async (query: Pick<ListFormsQuery, 'orderBy' | 'filter'>) => {
        const report: ListReport = { waitedMs: 0 }
        await store()[method]({ organizationId, ...query, limit: 10, skip: 0 }, { report })
        return report.plan
      }

      const filter = filterOf('search("form")')
      expect(await planOf({ orderBy: [{ field: 'name', descending: false }] })).toBe('forms_by_name')
      expect(await planOf({ orderBy: [{ field: 'name', descending: false }], filter })).toMatch(/^form/)
    })

    it('counts forms that are created and deleted', async () => {
      const organizationId = randomUUID()
      const totalSize = async () =>
        (await store().list({ organizationId, orderBy: [], limit: 1, skip: 0 })).totalSize
      const form = await givenForm(store(), { organizationId })
      await givenForm(store(), { organizationId })
      await store().create(newForm({ organizationId, publicId: form.publicId }))
      expect(await totalSize()).toBe(2)

      const refuse = () => {
        throw new Error('refused')
      }
      await store()
        .delete(refOf(form), refuse)
        .catch(() => {})
      expect(await totalSize()).toBe(2)

      await store().delete(refOf(form), () => {})
      await store().delete(refOf(form), () => {})
      expect(await totalSize()).toBe(1)
    })
  })

  describe('a page of large forms', () => {
    const store = openStore(open)

    it('ends early once it has 4 MiB', async () => {
      const organizationId = randomUUID()
      // Three bytes per character.
      const context = ['漢'.repeat((700 * 1024) / 3)]
      for (let count = 0; count < 8; count++) await givenForm(store(), { organizationId, draft: { context } })

      const pages = await pagesOf(store(), { organizationId, orderBy: byCreateTime }, 1000)

      expect(new Set(idsOf(pages.flat())).size).toBe(8)
      expect(pages).toHaveLength(2)
      const mebibytes = Buffer.byteLength(JSON.stringify(pages[0])) / 1024 ** 2
      expect(mebibytes).toBeGreaterThanOrEqual(4)
      expect(mebibytes).toBeLessThan(5)
    })
  })

  describe('forms of equal values', () => {
    const orders = [
      [],
      ...singleOrders,
      ...twoFieldOrders.filter(
        ([first, second]) => first!.field === 'name' && second!.field !== 'createTime',
      ),
    ]
    const isStructured = { kind: 'compare', field: 'type', operator: '=', value: 'structured' } as const
    const anyPage = fc.record({
      limit: fc.integer({ min: 1, max: 5 }),
      skip: fc.constantFrom(0, 0, 1, 2, 5),
      come: fc.array(fc.nat(), { maxLength: 2 }),
      go: fc.array(fc.nat(), { maxLength: 2 }),
    })
    /** All equal, equal pairs, or larger groups. */
    const anyNumbers = fc
      .constantFrom(1, 3, 8)
      .chain((values) => fc.array(fc.nat(values - 1), { minLength: 1, maxLength: 16 }))

    it('are sorted on every page while others are created and deleted', async () => {
      const walk = fc.asyncProperty(
        fc.constantFrom(...orders),
        fc.boolean(),
        anyNumbers,
        fc.array(anyPage, { minLength: 4, maxLength: 12 }),
        async (orderBy, filtered, numbers, pages) => {
          const organizationId = randomUUID()
          const come = (number: number, index: number) =>
            givenForm(store(), {
              organizationId,
              createTime: time(number),
              updateTime: time(number),
              replyCount: number,
              draft: { name: `${number}`, type: index % 4 === 0 ? 'dynamic' : 'structured' },
            })
          const forms = await Promise.all(numbers.map(come))
          const query = { organizationId, orderBy, ...(filtered && { filter: isStructured }) }

          let last: StoredForm | undefined
          let after: ListFormsQuery['after']
          for (const { limit, skip, ...events } of pages) {
            const matching = forms.filter(({ type }) => !filtered || type === 'structured')
            const rest = inOrder(matching, completeFormOrder(orderBy))
              .filter((form) => !last || comparing(completeFormOrder(orderBy))(form, last) > 0)
              .slice(skip)
            const page = await store().list({ ...query, limit, skip, ...(after && { after }) })
            expect(idsOf(page.forms)).toEqual(idsOf(rest.slice(0, limit)))
            expect(page.next !== undefined).toBe(rest.length > limit)
            expect(page.totalSize).toBe(matching.length)
            if (!page.next) break
            last = page.forms.at(-1)
            after = page.next

            forms.push(...(await Promise.all(events.come.map((which) => come(which % 3, which)))))
            for (const which of events.go) {
              const [gone] = forms.splice(which % forms.length, 1)
              if (gone) await store().delete(refOf(gone), () => {})
            }
          }
        },
      )
      await fc.assert(walk, { numRuns: numberOfRuns(limits, 15, 4) })
    })
  })

  describe('a walk through the pages', () => {
    /** A concurrent change between two pages. */
    interface Event {
      kind: 'come' | 'go' | 'change'
      at: Date
      which: number
    }
    const anyTime = fc.integer({ min: 0, max: 3 }).map(time)
    const anyEvent = fc.record<Event>({
      kind: fc.constantFrom('come', 'go', 'change'),
      at: anyTime,
      which: fc.nat(),
    })
    const anyPage = fc.record({
      limit: fc.integer({ min: 1, max: 3 }),
      skip: fc.integer({ min: 0, max: 2 }),
      events: fc.array(anyEvent, { maxLength: 3 }),
    })
    const rest = { limit: 1000, skip: 0, events: [] }

    it.each([
      ['by createTime', byCreateTime],
      ['most recently updated first', []],
    ])('%s meets each untouched form exactly once while others come, go and change', async (_, orderBy) => {
      const anyTimes = fc.array(anyTime, { maxLength: 8 })
      const walk = fc.asyncProperty(
        anyTimes,
        anyTimes,
        fc.array(anyPage, { maxLength: 6 }),
        async (untouchedTimes, touchedTimes, pages) => {
          const organizationId = randomUUID()
          const come = (at: Date) => givenForm(store(), { organizationId, createTime: at, updateTime: at })
          const untouched = await Promise.all(untouchedTimes.map(come))
          const touched = await Promise.all(touchedTimes.map(come))
          const happen = async ({ kind, at, which }: Event) => {
            const form = touched[which % touched.length]
            if (kind === 'come' || !form) touched.push(await come(at))
            else if (kind === 'go') await store().delete(refOf(form), () => {})
            else await store().update(refOf(form), (current) => ({ ...edited(current, {}), updateTime: at }))
          }

          const met: FormMetadata[] = []
          let from: ListFormsQuery = { organizationId, orderBy, limit: 0, skip: 0 }
          for (const { limit, skip, events } of [...pages, rest]) {
            // Skipped forms count as seen.
            if (skip > 0) met.push(...(await store().list({ ...from, limit: skip })).forms)
            const { forms, next } = await store().list({ ...from, limit, skip })
            met.push(...forms)
            if (!next) break
            from = { ...from, after: next }
            for (const event of events) await happen(event)
          }

          const ids = idsOf(untouched)
          const metUntouched = idsOf(met).filter((id) => ids.includes(id))
          expect(metUntouched.toSorted()).toEqual(ids.toSorted())
        },
      )
      await fc.assert(walk, { numRuns: numberOfRuns(limits, 15, 4) })
    })
  })
}
