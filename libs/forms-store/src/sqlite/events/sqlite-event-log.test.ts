import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { type FormEvent, formPath } from '@fms/contracts'
import { SqliteDatabase } from '@fms/store-kit'
import { spawnWithParent, terminate } from '@fms/testkit/processes'
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { FormChanges } from '../../changes/form-changes.ts'
import { logOf, sequencesOf } from '../../contract/events/log-of.ts'
import { edited, givenForm, refOf, time } from '../../contract/given.ts'
import { RequestReplay } from '../../identified-request.ts'
import { noQuota } from '../../quota.ts'
import { formETag } from '../../resource/form-to-json.ts'
import { sqliteChanges } from '../changes/sqlite-changes.ts'
import { SqliteFormsStore } from '../forms-store.ts'
import { migrations } from '../schema.ts'

const directory = mkdtempSync(join(tmpdir(), 'event-log-'))
afterAll(() => rmSync(directory, { recursive: true }))

let files = 0
const newPath = () => join(directory, `forms-${files++}.db`)

it('never notes a position in the stream after the end of the log', async () => {
  await using store = new SqliteFormsStore(newPath())
  const form = await givenForm(store)
  const { organizationId } = form
  await store.events.markStreamed(organizationId, 5)
  expect(await store.events.findUnstreamed(10)).toEqual([])

  await store.update(refOf(form), (current) => edited(current, {}))

  expect(await store.events.findUnstreamed(10)).toEqual([
    { organizationId, streamedSequence: 1, lastSequence: 2 },
  ])
})

it('reads the log of a file that is opened read-only', async () => {
  const path = newPath()
  await using store = new SqliteFormsStore(path)
  const { organizationId } = await givenForm(store)

  await using reader = new SqliteFormsStore(path, { readOnly: true })

  expect(await logOf(reader, organizationId)).toEqual(await logOf(store, organizationId))
  expect(await reader.events.range(organizationId)).toEqual({ oldestSequence: 1, lastSequence: 1 })
})

describe('the statements of event logs', () => {
  it('scan no table, and sort nothing', async () => {
    const path = newPath()
    await using store = new SqliteFormsStore(path)
    const form = await givenForm(store)
    const { organizationId, formId } = form
    const [event] = await logOf(store, organizationId)
    const spies = (['all', 'get', 'run'] as const).map((method) => vi.spyOn(SqliteDatabase.prototype, method))

    await store.update(refOf(form), (current) => edited(current, {}))
    await store.events.read({ organizationId, from: 1, limit: 10 })
    await store.events.read({ organizationId, descending: true, limit: 10 })
    await store.events.read({ organizationId, formId, limit: 10 })
    await store.events.read({ organizationId, formId, descending: true, limit: 10 })
    await store.events.get(organizationId, event!.id)
    await store.events.range(organizationId)
    await store.events.findUnstreamed(10)
    await store.events.backlog()
    await store.events.markStreamed(organizationId, 1)
    await store.events.streamedSequence(organizationId)
    await store.events.prune(time(1_000_000), 10, 5)
    await Array.fromAsync(store.events.logs())
    await expect(store.events.importEvent(event!)).rejects.toMatchObject({ reason: 'EVENT_CONFLICT' })
    const statements = spies.flatMap(({ mock }) => mock.calls)
    vi.restoreAllMocks()

    using file = new DatabaseSync(path)
    const plans = statements
      .filter(([sql]) => /events|Logs/.test(sql))
      .map(([sql, ...values]) =>
        file
          .prepare(`EXPLAIN QUERY PLAN ${sql}`)
          .all(...values)
          .map(({ detail }) => detail)
          .join('; '),
      )
    expect(plans.length).toBeGreaterThan(15)
    const byForm = 'INDEX events_by_form (formId=? AND organizationId=? AND sequence>? AND sequence<?)'
    expect(plans.filter((plan) => plan.includes(byForm))).toHaveLength(2)
    for (const plan of plans) {
      // A coroutine is no table.
      expect(plan.replace(/SCAN (unstreamedLogs|\(subquery-\d+\))/g, '')).not.toContain('SCAN')
      expect(plan).not.toContain('TEMP B-TREE')
    }
  })
})

describe('a process that is killed', () => {
  /** Starts a process that changes forms, and kills it after some acknowledged changes. @returns their request ids. */
  const changesUntilKilled = async (path: string, organizationId: string, count: number) => {
    const program = join(import.meta.dirname, 'testing/change-forms.ts')
    const child = spawnWithParent({ name: 'change-forms', args: [program, path, organizationId] }, 'pipe')
    await using _ = { [Symbol.asyncDispose]: () => terminate(child) }
    const exited = once(child, 'exit')
    const acknowledged: string[] = []
    const lines = createInterface(child.stdout!)
    lines.on('line', (line) => {
      if (acknowledged.push(line) === count) child.kill('SIGKILL')
    })
    await once(lines, 'close')
    expect(await exited).toEqual([null, 'SIGKILL'])
    return acknowledged
  }

  /** The ETag of each form after its last event; every event continues from the one before. */
  const fold = (log: FormEvent[]) => {
    const etags = new Map<string, string>()
    for (const { subject, data } of log) {
      expect(data.previousEtag).toBe(etags.get(subject) ?? '')
      etags.set(subject, data.etag)
    }
    return new Map([...etags].filter(([, etag]) => etag !== ''))
  }

  it('leaves an event for exactly the changes that are visible', async () => {
    const [path, organizationId] = [newPath(), randomUUID()]
    const acknowledged: string[] = []

    for (const count of [40, 300, 7, 150]) {
      acknowledged.push(...(await changesUntilKilled(path, organizationId, count)))

      await using store = new SqliteFormsStore(path)
      const log = await logOf(store, organizationId)
      expect(sequencesOf(log)).toEqual(log.map((_, index) => index + 1))
      const recorded = log.map(({ data }) => data.httpRequestId)
      expect(new Set(recorded).size).toBe(log.length)
      expect(new Set(acknowledged).difference(new Set(recorded))).toEqual(new Set())
      const page = await store.list({ organizationId, orderBy: [], limit: 100_000, skip: 0 })
      expect(fold(log)).toEqual(new Map(page.forms.map((form) => [formPath(form), formETag(form)])))
    }
  }, 60_000)
})

it('remembers a request until retention removes its event', async () => {
  await using store = new SqliteFormsStore(newPath())
  const form = await givenForm(store)
  const { organizationId } = form
  const request = { requestId: randomUUID(), method: 'update', digest: 'd' } as const
  const context = { actor: { operator: true }, httpRequestId: '', request } as const
  const rename = () => store.update(refOf(form), (current) => edited(current, { name: 'New' }), context)
  await rename()
  // A log keeps its newest event.
  await store.update(refOf(form), (current) => edited(current, { name: 'Newer' }))
  await store.events.markStreamed(organizationId, 3)
  await expect(rename()).rejects.toBeInstanceOf(RequestReplay)

  await store.events.prune(new Date(Date.now() + 1_000_000), 10)

  expect(await rename()).toMatchObject({ version: 4 })
})

it('finds a request that another process carries out after any statement of its repeat', async () => {
  const path = newPath()
  await using store = new SqliteFormsStore(path)
  await using another = new SqliteFormsStore(path)
  const form = await givenForm(store)
  const request = { requestId: randomUUID(), method: 'update', digest: 'd' } as const
  const context = { actor: { operator: true }, httpRequestId: '', request } as const
  const update = (of: FormChanges) =>
    of.update(
      refOf(form),
      (current) => {
        if (current.version > 1) throw new Error('The form has moved')
        return edited(current, { name: 'New' })
      },
      context,
    )
  const database = new SqliteDatabase(path, migrations)
  onTestFinished(() => database.close())
  const changes = sqliteChanges(database, noQuota)
  const findDraft = vi.fn(changes.findDraft).mockImplementationOnce(async (...ref) => {
    const found = await changes.findDraft(...ref)
    await update(another)
    return found
  })
  class Repeating extends FormChanges {}

  const repeat = update(new Repeating({ ...changes, findDraft }, { clears: false }))

  await expect(repeat).rejects.toBeInstanceOf(RequestReplay)
  expect(await logOf(store, form.organizationId)).toHaveLength(2)
})
