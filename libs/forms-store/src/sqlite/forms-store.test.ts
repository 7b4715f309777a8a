import { channel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Worker } from 'node:worker_threads'
import { type CheckedFilter, positionOf } from '@fms/aip'
import { formOrderFields } from '@fms/contracts'
import { pageSql, SqliteDatabase } from '@fms/store-kit'
import fc from 'fast-check'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { logBytesOf } from '../contract/events/log-of.ts'
import { formsStoreContract } from '../contract/forms-store.contract.ts'
import {
  atOnce,
  dryRun,
  edited,
  givenForm,
  givenRevisions,
  newForm,
  type OpenStore,
  type OpenStoreTogether,
  publish,
  refOf,
  revisionOf,
  snapshot,
} from '../contract/given.ts'
import { filterOf, filtersContract } from '../contract/lists/filters.ts'
import { listsContract } from '../contract/lists/lists.ts'
import { comparing, inOrder } from '../contract/lists/plain-order.ts'
import { summariesContract } from '../contract/lists/summaries.ts'
import type { ListFormsQuery, ListReport, StoredForm } from '../forms-store.ts'
import { completeFormOrder } from '../lists/form-fields.ts'
import { openFormsStore } from '../open-forms-store.ts'
import { SqliteFormsStore } from './forms-store.ts'

const directory = mkdtempSync(join(tmpdir(), 'forms-store-'))
const path = join(directory, 'forms.db')
const open: OpenStore = (options) => openFormsStore(`sqlite:${path}`, options)

afterAll(() => rmSync(directory, { recursive: true }))

let stores = 0
/** A new file, opened several times. */
const openTogether: OpenStoreTogether = (count) => {
  const file = join(directory, `together-${stores++}.db`)
  return atOnce(count, () => openFormsStore(`sqlite:${file}`))
}

formsStoreContract({ name: 'SQLite', open, openTogether, openSame: open, limits: {} })

describe('the forms store on a file, read in reader threads', () => {
  const openSlow = async () => new SqliteFormsStore(path, { fewForms: 0 })
  describe('of lists', () => listsContract(openSlow, {}))
  describe('of filters', () => filtersContract(openSlow, {}))
  describe('of summaries', () => summariesContract(openSlow, {}))
})

const orders = formOrderFields.flatMap((field) => [
  { field, descending: false },
  { field, descending: true },
])

const valuesOf = (form: StoredForm) => ({
  ...form,
  name: form.name,
  createTime: form.createTime.getTime(),
  updateTime: form.updateTime.getTime(),
})

describe('a forms file', () => {
  it('keeps its forms after it is closed', async () => {
    const store = await open()
    const form = await givenForm(store, { draft: { name: 'Kept' } })
    const revision = await publish(store, form)
    const reply = { ...form, replyIds: [crypto.randomUUID()] }
    await store.recordReplies(reply)
    const before = await store.getRevision(refOf(form), 'live')
    await store.close()

    await using again = await open()
    expect(await again.getRevision(refOf(form), 'live')).toEqual(before)
    expect(await revisionOf(again, form.organizationId, revision.commandId)).toEqual(revision)
    expect(await again.recordReplies(reply)).toBe(0)
    expect((await again.list({ ...form, orderBy: [], limit: 10, skip: 0 })).totalSize).toBe(1)
  })

  it('keeps all concurrent changes and publishes of two processes', async () => {
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

  it('takes a snapshot again when live moves without a new revision', async () => {
    await using store = await open()
    const { form, revisions } = await givenRevisions(store, [1, 2], 1)
    const seen: (string | undefined)[] = []

    await store.publish(refOf(form), crypto.randomUUID(), async (current, readLive) => {
      seen.push((await readLive())?.revisionId)
      // The other reference of the form: the mutex does not serialize the two publishes.
      const ref = { ...form, formRef: form.publicId }
      await store.publish(ref, revisions[1]!.commandId, snapshot)
      return snapshot(current)
    })

    expect(seen).toEqual(revisions.map(({ revisionId }) => revisionId))
  })
})

describe('a full disk', () => {
  const full = { status: 'UNAVAILABLE', reason: 'STORAGE_FULL' }

  it('refuses what grows, and nothing that frees room', async () => {
    const any = () => {}
    let diskFreeBytes = Number.POSITIVE_INFINITY
    const options = { deletedFormsDays: 30, diskFreeBytes: () => diskFreeBytes }
    await using store = new SqliteFormsStore(join(directory, 'full.db'), options)
    const [kept, deleted] = await Promise.all([givenForm(store), givenForm(store)])
    await publish(store, kept)
    const [record] = await Array.fromAsync(store.exportForms(kept.organizationId))
    diskFreeBytes = 0

    const rename = (name: string) => store.update(refOf(kept), (current) => edited(current, { name }))
    await expect(givenForm(store)).rejects.toMatchObject(full)
    await expect(rename('A longer name than before')).rejects.toMatchObject(full)
    await expect(publish(store, deleted)).rejects.toMatchObject(full)
    const other = newForm({ organizationId: kept.organizationId })
    await expect(store.create(other, dryRun)).rejects.toMatchObject(full)
    const imported = { ...record!, formId: other.formId, publicId: other.publicId, revisions: [], live: null }
    for (const validateOnly of [true, false])
      await expect(store.importForm(imported, { validateOnly })).rejects.toMatchObject(full)
    const replies = { ...kept, replyIds: [crypto.randomUUID()] }
    await expect(store.recordReplies(replies)).rejects.toMatchObject(full)

    await rename('')
    await store.unpublish(refOf(kept), '', any)
    await store.delete(refOf(deleted), any)
    await expect(store.undelete(refOf(deleted), any)).rejects.toMatchObject(full)
    await store.purge(refOf(deleted), any)

    diskFreeBytes = Number.POSITIVE_INFINITY
    await publish(store, kept)
    expect(await store.usage(deleted.organizationId)).toMatchObject({ forms: 0 })
  })
})

describe('a deleted form', () => {
  const incarnationOf = ({ organizationId, formId }: StoredForm) => {
    using database = new DatabaseSync(path)
    const sql = 'SELECT id FROM forms WHERE organizationId = ? AND formId = ?'
    return database.prepare(sql).get(organizationId, formId)!.id as number
  }

  const givenReplies = (incarnation: number, count: number) => {
    using database = new DatabaseSync(path)
    database
      .prepare(
        `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
         INSERT INTO replies SELECT ?, printf('%08d', i) FROM n`,
      )
      .run(count, incarnation)
  }

  const countOf = (table: string, incarnation: number) => {
    using database = new DatabaseSync(path)
    const sql = `SELECT count(*) AS n FROM ${table} WHERE incarnation = ?`
    return database.prepare(sql).get(incarnation)!.n as number
  }

  const cleared = (incarnation: number) =>
    vi.waitFor(
      () => {
        for (const table of ['replies', 'revisions', 'remains']) expect(countOf(table, incarnation)).toBe(0)
      },
      { timeout: 30_000 },
    )

  it('is invisible immediately; its replies are deleted in batches that let other reads run in between', async () => {
    await using store = await open()
    const form = await givenForm(store)
    const incarnation = incarnationOf(form)
    await publish(store, form)
    givenReplies(incarnation, 5_000)
    const seen = new Set<number>()
    let next: NodeJS.Immediate
    const look = () => {
      seen.add(countOf('replies', incarnation))
      next = setImmediate(look)
    }

    expect(await store.delete(refOf(form), () => {})).toBe(true)
    expect(countOf('replies', incarnation)).toBeGreaterThan(4_000)
    expect(await store.get(refOf(form))).toBeUndefined()
    look()
    await cleared(incarnation)
    clearImmediate(next!)

    // 500 each: reads run in between most of them.
    expect(seen.size).toBeGreaterThan(5)
  })

  it('is cleared of large revisions a few at a time', async () => {
    await using store = await open()
    const form = await givenForm(store, { draft: { context: ['x'.repeat(700 * 1024)] } })
    const incarnation = incarnationOf(form)
    for (let count = 0; count < 14; count++) await publish(store, form)
    const run = vi.spyOn(DatabaseSync.prototype, 'exec')

    await store.delete(refOf(form), () => {})
    await cleared(incarnation)
    const begun = run.mock.calls.filter(([sql]) => sql === 'BEGIN IMMEDIATE').length
    vi.restoreAllMocks()

    // One for the form, and one per six revisions.
    expect(begun).toBe(4)
    const bytes = await logBytesOf(store, form.organizationId)
    expect(await store.usage(form.organizationId)).toEqual({ forms: 0, bytes })
  })

  it('is cleared by the next process to open the file after a crash', async () => {
    const form = newForm()
    let incarnation: number
    {
      await using store = await open({ clears: false })
      await store.create(form)
      await publish(store, form)
      incarnation = incarnationOf(form)
      givenReplies(incarnation, 1_200)
      await store.delete(refOf(form), () => {})
    }
    expect(countOf('revisions', incarnation)).toBe(1)

    await using _store = await open()

    await cleared(incarnation)
  })

  it('does not block its ids while it is being cleared', async () => {
    await using store = await open({ clears: false })
    const form = await givenForm(store)
    const incarnation = incarnationOf(form)
    const revision = await publish(store, form)
    const [record] = await Array.fromAsync(store.exportForms(form.organizationId))
    givenReplies(incarnation, 3_000)
    const other = await givenForm(store, { organizationId: form.organizationId })

    await store.delete(refOf(form), () => {})
    expect(countOf('revisions', incarnation)).toBe(1)
    const again = newForm({ organizationId: form.organizationId, formId: form.formId })
    expect(await store.create(again)).toEqual(again)
    expect(countOf('replies', incarnation)).toBe(3_000)
    expect(await store.getRevision(refOf(again), 'latest')).toBeUndefined()
    expect(await store.recordReplies({ ...again, replyIds: [crypto.randomUUID()] })).toBe(1)

    expect(await revisionOf(store, form.organizationId, revision.commandId)).toBeUndefined()
    expect(await publish(store, other, revision.commandId)).toMatchObject({ formId: other.formId })
    for (const each of [again, other]) await store.delete(refOf(each), () => {})
    expect(await store.importForm(record!)).toBe('imported')
    expect(await Array.fromAsync(store.exportForms(form.organizationId))).toEqual([record])
  })

  it('is deleted and restored without writing its draft', async () => {
    await using store = await open({ deletedFormsDays: 1 })
    const form = await givenForm(store, { draft: { context: ['x'.repeat(700 * 1024)] } })
    using file = new DatabaseSync(path)
    /** The pages that `change` writes. */
    const pagesOf = async (change: () => Promise<unknown>) => {
      file.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      await change()
      return file.prepare('PRAGMA wal_checkpoint(PASSIVE)').get()!.log as number
    }

    const pages = [
      await pagesOf(() => store.delete(refOf(form), () => {})),
      await pagesOf(() => store.undelete(refOf(form), () => {})),
    ]

    // Of the row, each index, the deletion, the usage and the event. The draft has more than 170 pages.
    expect(Math.max(...pages)).toBeLessThan(40)
    expect(await store.get(refOf(form))).toEqual(form)
  })
})

describe('a list', () => {
  it('is sorted also when a filter matches more forms than one step sorts', async () => {
    await using store = await open()
    const { organizationId } = newForm()
    const forms = await atOnce(1_250, (index) =>
      givenForm(store, {
        organizationId,
        createTime: new Date(index % 600),
        updateTime: new Date(index % 70),
        replyCount: index % 3,
        draft: { name: 'Untitled form', type: index % 6 === 0 ? 'dynamic' : 'structured' },
      }),
    )
    const structured = forms.filter(({ type }) => type === 'structured')
    const isStructured = { kind: 'compare', field: 'type', operator: '=', value: 'structured' } as const

    const anyPage = fc.asyncProperty(
      fc.constantFrom(...orders),
      fc.constantFrom(undefined, isStructured),
      fc.option(fc.nat(forms.length - 1), { nil: undefined }),
      fc.constantFrom(1, 10, 600),
      fc.constantFrom(0, 0, 1, 9, 700, 1_100),
      async (term, filter, start, limit, skip) => {
        // The filter may exclude the form at the position.
        const last = start === undefined ? undefined : forms[start]!
        const after = last && positionOf(valuesOf(last), completeFormOrder([term]))
        const query = { organizationId, orderBy: [term], limit, skip }
        const page = await store.list({ ...query, ...(filter && { filter }), ...(after && { after }) })

        const rest = inOrder(filter ? structured : forms, [term])
          .filter((form) => !last || comparing([term])(form, last) > 0)
          .slice(skip)
        expect(page.forms.map(({ formId }) => formId)).toEqual(
          rest.slice(0, limit).map(({ formId }) => formId),
        )
        expect(page.next !== undefined).toBe(rest.length > limit)
      },
    )
    await fc.assert(anyPage, { numRuns: 300 })
  })
})

it('lists deleted forms from behind many skipped ones in a reader thread', async () => {
  await using store = await open()
  const { organizationId } = await givenForm(store)
  const count = 12_001
  {
    using file = new DatabaseSync(path)
    const sql = `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
      INSERT INTO deletions SELECT 1e9 + i, ?, printf('%08d', i), printf('%010d', i), '', 7 - i / 2000, 4e12, '' FROM n`
    file.prepare(sql).run(count - 1, organizationId)
    file.prepare('UPDATE usage SET deletedForms = ? WHERE organizationId = ?').run(count, organizationId)
  }
  const all = vi.spyOn(SqliteDatabase.prototype, 'all')

  const page = await store.listDeleted({ organizationId, limit: 2, skip: 11_000 })
  const { calls } = all.mock
  vi.restoreAllMocks()

  expect(calls).toEqual([])
  expect(page.deletedForms.map(({ formId }) => formId)).toEqual(['00011000', '00011001'])
  expect(page.totalSize).toBe(count)
  expect(page.next!.formId).toBe('00011001')
  const end = { organizationId, limit: 2, skip: count }
  expect(await store.listDeleted(end)).toEqual({ deletedForms: [], totalSize: count })
  await expect(store.listDeleted(end, { signal: AbortSignal.abort() })).rejects.toMatchObject({
    name: 'AbortError',
  })
})

describe('an expensive list', () => {
  const anything: CheckedFilter = { kind: 'contains', field: 'name', text: 'zz' }

  it.each([
    ['in a reader thread', path],
    ['in memory', ':memory:'],
  ])('ends as FILTER_TOO_EXPENSIVE when it takes too long: %s', async (_, path) => {
    await using store = new SqliteFormsStore(path, { fewForms: 0, listTimeoutMs: 0 })
    const { organizationId } = await givenForm(store)

    const list = store.list({ organizationId, filter: anything, orderBy: [], limit: 10, skip: 0 })

    await expect(list).rejects.toMatchObject({
      status: 'INVALID_ARGUMENT',
      reason: 'FILTER_TOO_EXPENSIVE',
      parts: { metadata: { timeoutMs: '0' } },
    })
  })

  it('reports what it reads and how long it has waited for a reader thread', async () => {
    await using store = new SqliteFormsStore(path, { fewForms: 0 })
    const { organizationId } = await givenForm(store)
    const query = { organizationId, filter: anything, orderBy: [], limit: 10, skip: 0 }
    const reports: ListReport[] = [{ waitedMs: 0 }, { waitedMs: 0 }]

    await Promise.all(reports.map((report) => store.list(query, { report })))

    expect(reports).toEqual(
      Array(2).fill({ plan: 'forms_by_updateTime', rows: expect.any(Number), waitedMs: expect.any(Number) }),
    )
    // One list of an organization at a time: the second one waits for the first.
    expect(reports[1]!.waitedMs).toBeGreaterThan(reports[0]!.waitedMs)
  })

  it.runIf(process.platform === 'linux')('has a lower priority than the event loop', async () => {
    await using store = new SqliteFormsStore(path, { fewForms: 0 })
    const { organizationId } = await givenForm(store)
    const before = readdirSync('/proc/self/task')
    await store.list({ organizationId, filter: anything, orderBy: [], limit: 10, skip: 0 })

    const started = readdirSync('/proc/self/task').filter((thread) => !before.includes(thread))

    expect(started.map((thread) => getPriority(Number(thread)))).toContain(getPriority(process.pid) + 5)
  })

  it('ends its thread after an idle minute, and starts another one for the next list', async () => {
    const exits: Promise<unknown>[] = []
    const onStart = (message: unknown) =>
      void exits.push(once((message as { worker: Worker }).worker, 'exit'))
    channel('worker_threads').subscribe(onStart)
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    await using store = new SqliteFormsStore(path, { fewForms: 0 })
    const { organizationId } = await givenForm(store)
    const query = { organizationId, filter: anything, orderBy: [], limit: 10, skip: 0 }
    await store.list(query)
    vi.advanceTimersByTime(60_000)
    vi.useRealTimers()
    await Promise.all(exits)

    await store.list(query)
    expect(exits).toHaveLength(2)
    channel('worker_threads').unsubscribe(onStart)
  })

  /** A file with an organization with a list that takes minutes, and one whose list takes no time; both threads have started. */
  const givenOrganizations = async () => {
    const file = join(directory, `expensive-${stores++}.db`)
    const store = new SqliteFormsStore(file, { fewForms: 0, listTimeoutMs: 300_000 })
    const [{ organizationId }, other] = [await givenForm(store), await givenForm(store)]
    {
      using database = new DatabaseSync(file)
      const changed: Record<string, string> = {
        id: '1000 + i',
        formId: "printf('%036d', i)",
        publicId: "printf('%010d', i)",
        name: `'${'a'.repeat(190)}'`,
      }
      const columns = database.prepare('PRAGMA table_info(forms)').all()
      const copied = columns.map(({ name }) => changed[`${name}`] ?? name)
      database.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
        INSERT INTO forms SELECT ${copied} FROM n, forms WHERE id = 1`)
      database.prepare('UPDATE usage SET forms = 20001 WHERE organizationId = ?').run(organizationId)
    }
    // In groups, since SQLite limits the depth of an expression.
    const oneOf = (operandOf: (index: number) => CheckedFilter): CheckedFilter => ({
      kind: 'or',
      operands: Array.from({ length: 140 }, (_, index) => operandOf(index)),
    })
    const contains = (text: string): CheckedFilter => ({ kind: 'contains', field: 'name', text })
    const slow = oneOf((group) => oneOf((index) => contains(`b${group} ${index}`)))
    const page = { filter: slow, orderBy: [], limit: 10, skip: 0 }
    const [expensive, cheap] = [
      { ...page, organizationId },
      { ...page, ...other, filter: anything },
    ]
    await Promise.all([store.list({ ...expensive, filter: anything }), store.list(cheap)])
    return { store, expensive, cheap }
  }

  it('ends within its statement when its signal aborts, and the next list succeeds', async () => {
    const { store, expensive, cheap } = await givenOrganizations()
    await using _ = store
    const callers = Array.from({ length: 8 }, () => new AbortController())

    const lists = callers.map(({ signal }) => store.list(expensive, { signal }))
    // They have the other thread, and leave the first of the eight enough time to begin.
    for (let index = 0; index < 100; index++) await store.list(cheap)
    for (const caller of callers) caller.abort()

    for (const list of await Promise.allSettled(lists)) {
      expect(list).toMatchObject({ status: 'rejected', reason: { name: 'AbortError' } })
    }
    // It needs the thread of the first one.
    expect(await store.list({ ...expensive, filter: anything })).toEqual({ forms: [], totalSize: 0 })
  })

  it('is not read when its signal has aborted', async () => {
    await using store = new SqliteFormsStore(':memory:')
    const query = { ...newForm(), orderBy: [], limit: 10, skip: 0 }

    const list = store.list(query, { signal: AbortSignal.abort() })

    await expect(list).rejects.toMatchObject({ name: 'AbortError' })
  })

  it('leaves one thread to other organizations, however many its callers are', async () => {
    const { store, expensive, cheap } = await givenOrganizations()
    await using _ = store
    const stop = new AbortController()
    const many = Array.from({ length: 20 }, (_, index) =>
      store.list(expensive, { caller: `${index}`, signal: stop.signal }).catch(() => 'stopped'),
    )

    expect(await store.list(cheap)).toEqual({ forms: [], totalSize: 0 })

    stop.abort()
    expect(new Set(await Promise.all(many))).toEqual(new Set(['stopped']))
  })

  it('takes turns with the lists of other callers', async () => {
    await using store = new SqliteFormsStore(path, { fewForms: 0 })
    const { organizationId } = await givenForm(store)
    const query = { organizationId, filter: anything, orderBy: [], limit: 10, skip: 0 }
    const many = atOnce(20, () => store.list(query, { caller: 'reader' }))

    const first = await Promise.race([
      many.then(() => 'the many'),
      store.list(query, { caller: 'another' }).then(() => 'the other'),
    ])

    expect(first).toBe('the other')
    await many
  })

  it('fails with UNAVAILABLE when the store is closed', async () => {
    const store = new SqliteFormsStore(path, { fewForms: 0 })
    const { organizationId } = await givenForm(store)
    const list = store.list({ organizationId, filter: anything, orderBy: [], limit: 10, skip: 0 })
    const outcome = expect(list).rejects.toMatchObject({ reason: 'STORE_UNAVAILABLE' })

    await store.close()

    await outcome
  })
})

it('finds the same forms by search after a VACUUM, and in a copy of the file', async () => {
  const { organizationId } = newForm()
  const copy = join(directory, 'copy.db')
  {
    await using store = await openFormsStore(`sqlite:${join(directory, 'vacuum.db')}`)
    const forms = await atOnce(40, (index) =>
      givenForm(store, { organizationId, draft: { name: `Number ${index}` } }),
    )
    for (const form of forms.slice(0, 20)) await store.delete(refOf(form), () => {})
  }
  {
    using file = new DatabaseSync(join(directory, 'vacuum.db'))
    file.exec(`VACUUM; VACUUM INTO '${copy}'`)
  }
  for (const each of ['vacuum.db', 'copy.db']) {
    await using store = await openFormsStore(`sqlite:${join(directory, each)}`)
    const filter: CheckedFilter = { kind: 'search', field: 'name', text: 'number 3' }
    const page = await store.list({ organizationId, filter, orderBy: [], limit: 100, skip: 0 })
    expect(page.forms.map(({ name }) => name).sort()).toEqual(
      Array.from({ length: 10 }, (_, index) => `Number 3${index}`),
    )
  }
})

it('lists revisions from one snapshot while another process changes them', async () => {
  await using store = await open()
  const form = await givenForm(store)
  await publish(store, form)
  const get = SqliteDatabase.prototype.get
  vi.spyOn(SqliteDatabase.prototype, 'get').mockImplementation(function (this: SqliteDatabase, ...query) {
    if (query[0].includes('count(*)')) {
      using other = new DatabaseSync(path)
      other.exec('DELETE FROM revisions')
    }
    return get.apply(this, query)
  })

  const page = await store.listRevisions({ ...refOf(form), limit: 10, skip: 0 })

  vi.restoreAllMocks()
  expect(page).toMatchObject({ revisions: [{ live: true }], totalSize: 1 })
})

describe('the statements', () => {
  /** Every statement that `read` runs, with its parameters. */
  const statementsOf = async (read: () => Promise<unknown>) => {
    const spies = (['all', 'get'] as const).map((method) => vi.spyOn(SqliteDatabase.prototype, method))
    await read()
    const calls = spies.flatMap(({ mock }) => mock.calls)
    vi.restoreAllMocks()
    return calls
  }

  const plansOf = async (read: () => Promise<unknown>): Promise<string[]> => {
    const statements = await statementsOf(read)
    using database = new DatabaseSync(path)
    database.function('matchesParts', (_text, _parts) => 1)
    database.function('notAborted', () => 1)
    return statements.map(([sql, ...values]) =>
      database
        .prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all(...values)
        .map(({ detail }) => detail)
        .join('; '),
    )
  }

  const places = [
    { from: 'the start', isLater: false, skip: 0 },
    { from: 'a position', isLater: true, skip: 0 },
    { from: 'behind what is skipped', isLater: false, skip: 2 },
    { from: 'behind what a position and a skip leave', isLater: true, skip: 1 },
  ]

  it.each(orders.flatMap((term) => places.map((place) => ({ ...term, ...place }))))(
    'list by $field (descending: $descending) from its index, from $from',
    async ({ isLater, skip, ...term }) => {
      await using store = await open()
      const { organizationId } = newForm()
      const [form] = await atOnce(4, () => givenForm(store, { organizationId }))
      const orderBy = [{ field: term.field, descending: term.descending }]
      const after = positionOf(valuesOf(form!), completeFormOrder(orderBy))
      const query = { organizationId, orderBy, limit: 1, skip, ...(isLater && { after }) }

      const plans = await plansOf(() => store.list(query))

      const index = `INDEX forms_by_${term.field} (organizationId=?`
      // Skipped rows are not read.
      const covering = `SEARCH forms USING ${skip > 0 ? 'COVERING ' : ''}${index}`
      const ways = [covering, 'SEARCH forms USING INTEGER PRIMARY KEY (rowid=?)', 'SEARCH usage ']
      for (const plan of plans) {
        expect(ways.filter((way) => plan.startsWith(way))).toHaveLength(1)
        expect(plan).not.toContain('TEMP B-TREE')
        // No index entry before the position is read, not even a tie.
        if (isLater) expect(plan).not.toContain(`${index})`)
      }
      if (isLater) expect(plans[0]).toMatch(/AND .*publicId/)
    },
  )

  const filtered = (text: string): ListFormsQuery => ({
    ...newForm(),
    filter: filterOf(text),
    orderBy: [],
    limit: 10,
    skip: 0,
  })

  it.each([
    [
      'several fields',
      '',
      [
        { field: 'createTime' as const, descending: true },
        { field: 'name' as const, descending: false },
      ],
    ],
    ['a filter that no index serves', 'type = dynamic OR name = "*b*"', []],
    ['a search for two letters', 'search("ab")', []],
    ['alternatives', 'search("abc") OR createTime > 2026-01-01T00:00:00Z', []],
  ])('of a list read no form but those of its page: %s', async (_, text, orderBy) => {
    await using store = new SqliteFormsStore(':memory:', { fewForms: 0 })
    const { organizationId } = await givenForm(store, { draft: { name: 'abc' } })
    const { filter } = filtered(text || 'a')

    const plans = await plansOf(() =>
      store.list({ organizationId, orderBy, limit: 10, skip: 0, ...(text && { filter: filter! }) }),
    )

    const [ways, pages] = [
      ['SEARCH forms USING COVERING INDEX forms_by_', 'SEARCH usage '],
      'SEARCH forms USING INTEGER PRIMARY KEY (rowid=?)',
    ]
    const [page, ...others] = plans.toReversed()
    expect(page).toBe(pages)
    expect(others.length).toBeGreaterThan(1)
    for (const plan of others)
      expect(
        ways.filter((way) => plan.startsWith(way) || plan.includes(`; ${way}`)),
        plan,
      ).toHaveLength(1)
  })

  it.each([
    ['the whole name', 'name = "abc"', 'forms_by_name'],
    ['the beginning of a name', 'name = "ab*" type = structured', 'forms_by_name'],
    ['a public id', 'publicId = "none"', 'forms_by_publicId'],
    ['a range of times', 'updateTime > 2036-01-01T00:00:00Z', 'forms_by_updateTime'],
    [
      'another range of times',
      'createTime < 2016-01-01T00:00:00Z createTime > 2015-01-01T00:00:00Z',
      'forms_by_createTime',
    ],
    ['a search for three letters', 'search("xyz")', 'rowid IN (SELECT value'],
    ['a text inside', 'name = "*xyz*"', 'rowid IN (SELECT value'],
  ])('begin from what a filter asks for: %s', async (_, text, index) => {
    await using store = await open()
    const { organizationId } = newForm()
    await atOnce(600, () => givenForm(store, { organizationId, draft: { name: 'other' } }))
    await givenForm(store, { organizationId, draft: { name: 'abc' } })

    const statements = await statementsOf(() => store.list({ ...filtered(text), organizationId }))

    expect(statements.findLast(([sql]) => sql.includes(pageSql))?.[0]).toContain(index)
  })

  it('never scan more than one organization, or more than one form', async () => {
    await using store = await open({ deletedFormsDays: 1 })
    const form = await givenForm(store)
    const { revisionId } = await publish(store, form)

    const plans = await plansOf(async () => {
      await store.get(refOf(form))
      await store.get({ ...form, formRef: form.publicId })
      await store.get({ ...form, formRef: 'nonsense' })
      await store.list(filtered('name = "a*" OR -search("b")'))
      await store.listRevisions({ ...refOf(form), limit: 10, skip: 0, after: 7 })
      for (const ref of [revisionId, 'live', 'latest']) await store.getRevision(refOf(form), ref)
      await store.update(refOf(form), (current) => current)
      await store.recordReplies({ ...form, replyIds: [crypto.randomUUID()] })
      await store.create(newForm())
      const request = { requestId: crypto.randomUUID(), method: 'update', digest: '' } as const
      await store.checkRequest({ organizationId: form.organizationId, formRef: form.formId }, request)
      await store.delete(refOf(form), () => {})
      const deleteTime = new Date()
      await store.listDeleted({ ...form, limit: 10, skip: 0 })
      await store.listDeleted({ ...form, limit: 10, skip: 0, after: { ...form, deleteTime } })
      await store.undelete(refOf(form), () => {})
      await store.delete(refOf(form), () => {})
      await store.purge(refOf(form), () => {})
      await Array.fromAsync(store.exportForms(form.organizationId))
    })

    expect(plans.length).toBeGreaterThan(30)
    for (const plan of plans) {
      expect(plan).not.toMatch(/SCAN (forms|deletions|revisions|replies|usage|events)/)
      expect(plan).not.toMatch(/deletions.* TEMP B-TREE/)
    }
  })

  it('are prepared once for any page size', async () => {
    await using store = await open()
    const form = await givenForm(store)

    const statements = await statementsOf(async () => {
      await store.list({ ...form, orderBy: [], limit: 10, skip: 0 })
      await store.list(filtered('name = a'))
      await store.listRevisions({ ...refOf(form), limit: 10, skip: 0 })
    })

    const limits = new Set(statements.flatMap(([sql]) => sql.match(/LIMIT .*/) ?? []))
    expect([...limits]).toEqual([pageSql])
  })

  it('read no form that has only some of the trigrams of a search', async () => {
    await using store = await open()
    const { organizationId } = newForm()
    const names = Array.from({ length: 600 }, (_, number) => (number % 6 === 0 ? 'abc here' : 'other'))
    await atOnce(names.length, (number) =>
      givenForm(store, { organizationId, draft: { name: names[number]! } }),
    )
    await givenForm(store, { organizationId, draft: { name: 'abcxyz' } })

    const statements = await statementsOf(() =>
      store.list({ ...filtered('search("abcxyz")'), organizationId }),
    )

    const looked = statements.filter(([sql]) => sql.includes('rowid IN'))
    expect(looked).toHaveLength(1)
    expect(JSON.parse(`${looked[0]![1]}`)).toHaveLength(1)
  })

  it('contain no text of the caller', async () => {
    await using store = await open()
    const texts = ['name = secret', 'name = "secret*secret"', 'name:secret', 'secret', 'name < secret']

    for (const text of texts) {
      const statements = await statementsOf(() => store.list(filtered(text)))
      expect(JSON.stringify(statements.map(([, ...values]) => values))).toContain('secret')
      for (const [sql] of statements) expect(sql).not.toContain('secret')
    }
  })
})
