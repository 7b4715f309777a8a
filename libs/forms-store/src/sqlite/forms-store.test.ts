import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { checkFilter, parseFilter } from '@fms/aip'
import { pageSql, SqliteDatabase } from '@fms/store-kit'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { atOnce, edited, givenForm, newForm, publish, refOf } from '../contract/given.ts'
import { completeOrder, type FormOrderField, formOrderFields, positionOf } from '../form-order.ts'
import { formsStoreContract } from '../forms-store.contract.ts'
import type { ListFormsQuery } from '../forms-store.ts'
import { openFormsStore } from '../open-forms-store.ts'

const directory = mkdtempSync(join(tmpdir(), 'forms-store-'))
const path = join(directory, 'forms.db')
const open = () => openFormsStore(`sqlite:${path}`)

afterAll(() => rmSync(directory, { recursive: true }))

formsStoreContract('SQLite', open)

const orders = formOrderFields.flatMap((field) => [
  { field, descending: false },
  { field, descending: true },
])

describe('a forms file', () => {
  it('keeps what it holds', async () => {
    const store = await open()
    const form = await givenForm(store, { draft: { name: 'Kept' } })
    const revision = await publish(store, form)
    const reply = { ...form, replyId: crypto.randomUUID() }
    await store.recordReply(reply)
    const before = await store.getRevision(refOf(form), 'live')
    await store.close()

    await using again = await open()
    expect(await again.getRevision(refOf(form), 'live')).toEqual(before)
    expect(await again.findRevisionOfCommand(form.organizationId, revision.commandId)).toEqual(revision)
    expect(await again.recordReply(reply)).toBe(false)
    expect((await again.list({ ...form, orderBy: [], limit: 10, skip: 0 })).totalSize).toBe(1)
  })

  it('keeps the changes and publishes of two processes at once, all of them', async () => {
    await using one = await open()
    await using other = await open()
    const form = await givenForm(one)

    await Promise.all(
      [one, other].map(async (store) => {
        await atOnce(50, () => store.update(refOf(form), (current) => edited(current, {})))
        await atOnce(25, () => publish(store, form))
      }),
    )

    const page = await one.listRevisions({ ...refOf(form), limit: 1000, skip: 0 })
    const numbers = page!.revisions.map(({ revision }) => revision.number)
    expect(await other.get(refOf(form))).toMatchObject({ version: 101, live: true })
    expect(new Set(numbers).size).toBe(50)
    expect(page!.revisions.map(({ live }) => live)).toEqual([true, ...Array(49).fill(false)])
  })
})

describe('a list', () => {
  it('is in order also where a filter leaves more than are sorted by themselves', async () => {
    await using store = await open()
    const { organizationId } = newForm()
    await atOnce(1_100, (index) =>
      givenForm(store, {
        organizationId,
        createTime: new Date(index % 50),
        updateTime: new Date(index % 70),
        replyCount: index % 3,
        draft: { name: `${index % 7}` },
      }),
    )
    const filters = [undefined, { kind: 'constant', value: true }] as const

    for (const orderBy of [[], ...orders.map((term) => [term])]) {
      const [plain, filtered] = await Promise.all(
        filters.map(async (filter) => {
          const query = { organizationId, orderBy, limit: 600, skip: 0, ...(filter && { filter }) }
          const first = await store.list(query)
          const second = await store.list({ ...query, after: first.next! })
          return [...first.forms, ...second.forms]
        }),
      )

      expect(plain).toHaveLength(1_100)
      expect(filtered).toEqual(plain)
    }
  })
})

describe('the statements', () => {
  /** Every statement that `read` runs, and what it is given. */
  const statementsOf = async (read: () => Promise<unknown>) => {
    const spies = (['iterate', 'all', 'get'] as const).map((method) =>
      vi.spyOn(SqliteDatabase.prototype, method),
    )
    await read()
    const calls = spies.flatMap(({ mock }) => mock.calls)
    vi.restoreAllMocks()
    return calls
  }

  const plansOf = async (read: () => Promise<unknown>): Promise<string[]> => {
    const statements = await statementsOf(read)
    using database = new DatabaseSync(path)
    database.function('matchesParts', (_text, _parts) => 1)
    return statements.map(([sql, ...values]) =>
      database
        .prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all(...values)
        .map(({ detail }) => detail)
        .join('; '),
    )
  }

  const indexOf = (field: FormOrderField, descending: boolean) =>
    `forms_by_${field}${descending && field !== 'publicId' ? '_desc' : ''}`

  it.each(orders)(
    'list by $field (descending: $descending) from its index, from any position',
    async (term) => {
      await using store = await open()
      const form = newForm()
      const query = { organizationId: form.organizationId, orderBy: [term], limit: 10, skip: 0 }
      const values = {
        ...form,
        name: form.draft.name,
        createTime: form.createTime.getTime(),
        updateTime: form.updateTime.getTime(),
      }
      const after = positionOf(values, completeOrder([term]))
      const index = indexOf(term.field, term.descending)

      for (const each of [query, { ...query, after }]) {
        const [list, total, ...more] = await plansOf(() => store.list(each))
        expect(list).toMatch(new RegExp(`^SEARCH forms USING COVERING INDEX ${index} \\(organizationId=\\?`))
        expect(list).not.toContain('TEMP B-TREE')
        expect(total).toMatch(/^SEARCH formCounts /)
        expect(more).toEqual([])
      }
    },
  )

  const filterFields = { fields: { name: { type: 'string' } }, search: 'name' } as const
  const filtered = (text: string): ListFormsQuery => ({
    ...newForm(),
    filter: checkFilter(parseFilter(text)!, filterFields),
    orderBy: [],
    limit: 10,
    skip: 0,
  })

  it('never scan more than one organization, or more than one form', async () => {
    await using store = await open()
    const form = await givenForm(store)
    const { commandId, revisionId } = await publish(store, form)

    const plans = await plansOf(async () => {
      await store.get(refOf(form))
      await store.get({ ...form, formRef: form.publicId })
      await store.get({ ...form, formRef: 'nonsense' })
      await store.list(filtered('name = "a*" OR -search("b")'))
      await store.findRevisionOfCommand(form.organizationId, commandId)
      await store.listRevisions({ ...refOf(form), limit: 10, skip: 0, after: 7 })
      await store.getRevision(refOf(form), revisionId)
      await store.update(refOf(form), (current) => current)
      await store.recordReply({ ...form, replyId: crypto.randomUUID() })
    })

    expect(plans.length).toBeGreaterThan(10)
    for (const plan of plans) expect(plan).not.toMatch(/SCAN (forms|revisions|replies|formCounts)/)
  })

  it('are prepared once, whatever the size of the page', async () => {
    await using store = await open()
    const form = await givenForm(store)

    const statements = await statementsOf(async () => {
      await store.list({ ...form, orderBy: [], limit: 10, skip: 0 })
      await store.list(filtered('name = a'))
      await store.listRevisions({ ...refOf(form), limit: 10, skip: 0 })
    })

    const limits = statements.flatMap(([sql]) => sql.match(/LIMIT .*/) ?? [])
    expect(limits).toEqual(Array(3).fill(pageSql))
  })

  it('hold no text of the caller', async () => {
    await using store = await open()
    const texts = ['name = secret', 'name = "secret*secret"', 'name:secret', 'secret', 'name < secret']

    for (const text of texts) {
      const statements = await statementsOf(() => store.list(filtered(text)))
      expect(JSON.stringify(statements.map(([, ...values]) => values))).toContain('secret')
      for (const [sql] of statements) expect(sql).not.toContain('secret')
    }
  })
})
