import { randomUUID } from 'node:crypto'
import { FormType, formOrderFields } from '@fms/contracts'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { FormSummary, FormsStore, ListFormsQuery, StoredForm } from '../../forms-store.ts'
import { givenForm, newForm, type OpenStore, openStore, publish, time } from '../given.ts'
import { type EngineLimits, numberOfRuns } from '../hostile-names.ts'
import { filterOf } from './filters.ts'

const summaryOf = ({ draftJson: _, aiHandoff: __, ...summary }: StoredForm): FormSummary => summary

/** The page that `listSummaries` has to return. */
const fromForms = async (store: FormsStore, query: ListFormsQuery) => {
  const page = await store.list(query)
  return { ...page, forms: page.forms.map(summaryOf) }
}

/** Tests of lists without drafts, against lists with drafts. */
export const summariesContract = (open: OpenStore, limits: EngineLimits): void => {
  const store = openStore(open)

  describe('a page', () => {
    const organizationId = randomUUID()
    beforeAll(async () => {
      const forms = Array.from({ length: 40 }, (_, index) =>
        newForm({
          organizationId,
          createTime: time(index % 4),
          updateTime: time(-(index % 7)),
          replyCount: index % 3,
          draft: {
            name: `${['Feedback', 'Order', 'Größe'][index % 3]} ${index}`,
            type: FormType.options[index % 2]!,
          },
        }),
      )
      await Promise.all([...forms, newForm()].map((form) => store().create(form)))
      for (const form of forms.slice(0, 5)) await publish(store(), form)
    })

    const anyTerm = fc.record({ field: fc.constantFrom(...formOrderFields), descending: fc.boolean() })
    const anyQuery = fc.record({
      filter: fc.option(
        fc.constantFrom(
          ...['name = "Feedback*"', 'search("größe")', 'order', 'type = dynamic', '-feedback'],
          ...[`createTime > ${time(1).toISOString()}`, 'type = structured name : "1"', 'name : "no such"'],
        ),
        { nil: undefined },
      ),
      orderBy: fc.uniqueArray(anyTerm, { maxLength: 2, selector: ({ field }) => field }),
      limit: fc.constantFrom(1, 3, 7, 40, 1000),
      skip: fc.constantFrom(0, 0, 0, 2, 50),
    })

    it('has the forms of the page with drafts, page after page', async () => {
      const walk = fc.asyncProperty(anyQuery, async ({ filter, ...rest }) => {
        let query: ListFormsQuery = { organizationId, ...rest, ...(filter && { filter: filterOf(filter) }) }
        for (let pages = 0; pages < 3; pages++) {
          const page = await store().listSummaries(query)

          expect(page).toEqual(await fromForms(store(), query))
          if (!page.next) return
          query = { ...query, after: page.next }
        }
      })
      await fc.assert(walk, { numRuns: numberOfRuns(limits, 40, 8) })
    })
  })

  it('does not end a page at 4 MiB, because it reads no drafts', async () => {
    const { organizationId } = newForm()
    const context = ['x'.repeat(700 * 1024)]
    for (let count = 0; count < 8; count++) await givenForm(store(), { organizationId, draft: { context } })
    const query: ListFormsQuery = { organizationId, orderBy: [], limit: 8, skip: 0 }

    const page = await store().listSummaries(query)

    expect((await store().list(query)).forms.length).toBeLessThan(8)
    expect(page.forms).toHaveLength(8)
    expect(page.next).toBeUndefined()
  })

  it('is empty without forms', async () => {
    const query = { organizationId: randomUUID(), orderBy: [], limit: 8, skip: 0 }

    expect(await store().listSummaries(query)).toEqual({ forms: [], totalSize: 0 })
  })
}
