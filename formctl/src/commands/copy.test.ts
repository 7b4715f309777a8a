import { spawn } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { FormEvent, FormRecord } from '@fms/contracts'
import { openDirectoryStore } from '@fms/directory-store'
import { type ImportOptions, migrateFormsStore, openFormsStore } from '@fms/forms-store'
import { startMongo } from '@fms/testkit/mongodb'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { recordsOf } from '../copy/copy-store.ts'
import { eventsKind } from '../copy/events-kind.ts'
import { formsKind } from '../copy/store-kinds.ts'
import { collectEvents } from '../events/event-log.ts'
import { newFormRecord } from '../testing/form-record.ts'
import { runFormctl } from '../testing/run-formctl.ts'

const mongo = await startMongo()
afterAll(() => mongo[Symbol.asyncDispose]())

/** The URL of a new MongoDB database. */
const newMongoUrl = () => mongo.url.replace(/\/[^/?]*(\?|$)/, `/test_${randomUUID().slice(0, 8)}$1`)

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'formctl-copy-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const file = (name: string) => `sqlite:${join(folder, name)}`

const fill = async (url: string, records: FormRecord[], options: ImportOptions = {}) => {
  await using store = await openFormsStore(url, { clears: false })
  await Promise.all(records.map((record) => store.importForm(record, options)))
}

/** Fills a store that has no event. */
const fillWithoutEvents = (url: string, records: FormRecord[]) => fill(url, records, { recordsEvent: false })

const recordsAt = async (url: string) => {
  await using store = await formsKind.open(url, true)
  return await Array.fromAsync(recordsOf(store))
}

/** All events of a store, and up to which sequence each log is in the stream. */
const logsAt = async (url: string) => {
  await using store = await eventsKind.open(url, true)
  return await Array.fromAsync(recordsOf(store))
}

const digestOfFile = (url: string) =>
  createHash('sha256')
    .update(readFileSync(url.slice('sqlite:'.length)))
    .digest('hex')

const copy = (from: string, to: string, ...args: string[]) =>
  runFormctl(['copy', '--from', from, '--to', to, ...args])

describe('formctl copy of 100 forms from SQLite to MongoDB', () => {
  const [one, other] = [randomUUID(), randomUUID()]
  const records = Array.from({ length: 100 }, (_, index) =>
    newFormRecord({
      organizationId: index % 3 ? one : other,
      revisions: index % 4,
      replies: (index * 7) % 5,
    }),
  )
  let home: string
  let from: string
  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'formctl-copy-'))
    from = `sqlite:${join(home, 'forms.db')}`
    await fill(from, records.slice(0, 10))
    await fillWithoutEvents(from, records.slice(10))
  })
  afterAll(() => rmSync(home, { recursive: true }))

  /** formctl as a process of its own, and the lines of its stderr. */
  const start = (to: string) => {
    const entry = fileURLToPath(import.meta.resolve('../formctl.ts'))
    const child = spawn(process.execPath, [entry, 'copy', '--from', from, '--to', to], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const lines = createInterface(child.stderr)[Symbol.asyncIterator]()
    return { child, exited: once(child, 'exit'), lines }
  }

  const untilProgress = async (lines: AsyncIterator<string>) => {
    for (
      let line = await lines.next();
      line.value !== 'Copying forms: 10 of 100';
      line = await lines.next()
    ) {
      expect(line).toMatchObject({ done: false, value: expect.stringMatching(/events/) })
    }
  }

  it('resumes after kill -9, and ends with equal stores', async () => {
    const to = newMongoUrl()
    const { child, exited, lines } = start(to)
    await untilProgress(lines)
    child.kill('SIGKILL')
    expect(await exited).toEqual([null, 'SIGKILL'])
    const copied = await recordsAt(to)
    expect(copied.length).toBeGreaterThan(0)
    expect(copied.length).toBeLessThan(100)
    const before = digestOfFile(from)

    const { code, stdout, stderr } = await copy(from, to, '--json')

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(JSON.parse(stdout)).toEqual({
      copies: [
        {
          store: 'events',
          imported: 0,
          existing: 10,
          counts: { events: 10 },
          sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        },
        {
          store: 'forms',
          imported: 100 - copied.length,
          existing: copied.length,
          counts: {
            forms: 100,
            revisions: records.reduce((sum, { revisions }) => sum + revisions.length, 0),
            replies: records.reduce((sum, { replyIds }) => sum + replyIds.length, 0),
          },
          sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        },
      ],
    })
    expect(await recordsAt(to)).toEqual(await recordsAt(from))
    expect(await logsAt(to)).toEqual(await logsAt(from))
    expect(digestOfFile(from)).toBe(before)
  })

  it('completes the forms in flight on Ctrl-C, and says how to resume', async () => {
    const to = newMongoUrl()
    const { child, exited, lines } = start(to)
    await untilProgress(lines)
    child.kill('SIGINT')
    const printed: string[] = []
    for (let line = await lines.next(); !line.done; line = await lines.next()) printed.push(line.value)

    expect(await exited).toEqual([1, null])
    const copied = (await recordsAt(to)).length
    expect(printed.at(-1)).toBe(
      `error: Interrupted. ${copied} of 100 are in the target. Repeat the command to resume.`,
    )
  })

  it('copies back to an equal store from MongoDB to SQLite', async () => {
    const [source, there, back] = [file('source.db'), newMongoUrl(), file('forms.db')]
    await fill(source, records.slice(0, 12))

    const copies = [await copy(source, there, '--json'), await copy(there, back, '--json')]

    expect(copies.map(({ stderr }) => stderr)).toEqual(['', ''])
    const [toMongo, toSqlite] = copies.map(({ stdout }) => JSON.parse(stdout).copies)
    expect(toSqlite).toEqual(toMongo)
    expect(await recordsAt(back)).toEqual(await recordsAt(source))
    expect(await logsAt(back)).toEqual(await logsAt(source))
  })
})

describe('formctl copy', () => {
  it('prints its progress and the result', async () => {
    const [from, to] = [file('forms.db'), file('copy.db')]
    const records = Array.from({ length: 100 }, () => newFormRecord({ revisions: 1, replies: 2 }))
    await fillWithoutEvents(from, records)

    const { code, stdout, stderr } = await copy(from, to)

    expect(code).toBe(0)
    expect(stdout).toMatch(
      /^Copied the events of the forms store: 0 records imported, 0 existed\.\nSource and target are equal: no records; SHA-256 [0-9a-f]{64}\nCopied the forms store: 100 records imported, 0 existed\.\nSource and target are equal: 100 forms, 100 revisions, 200 replies; SHA-256 [0-9a-f]{64}\n$/,
    )
    const tenths = Array.from({ length: 10 }, (_, index) => `${(index + 1) * 10} of 100`)
    const lines = ['Copying', 'Comparing'].flatMap((verb) => tenths.map((tenth) => `${verb} forms: ${tenth}`))
    expect(stderr.trim().split('\n')).toEqual(lines)
  })

  it('copies both stores into one database and out of it', async () => {
    const [directory, forms, to] = [file('directory.db'), file('forms.db'), newMongoUrl()]
    await fill(forms, [newFormRecord({ revisions: 1 })])
    await using store = await openDirectoryStore(directory)
    const { userId, email } = await store.createUser({ email: 'ada@example.com' })
    const { organizationId } = await store.createOrganization({ name: 'Acme', slug: 'acme' })
    await store.addMember({ organizationId, userId, role: 'owner' })
    await store.createKey({ userId })

    const first = JSON.parse((await copy(directory, to, '--json')).stdout)
    await copy(forms, to)
    const both = newMongoUrl()
    const second = JSON.parse((await copy(to, both, '--json')).stdout)

    expect(first.copies).toMatchObject([
      { store: 'directory', counts: { users: 1, organizations: 1, members: 1, keys: 1 } },
    ])
    expect(second.copies).toMatchObject([
      first.copies[0],
      { store: 'events', counts: { events: 1 } },
      { store: 'forms', counts: { forms: 1 } },
    ])
    await using copied = await openDirectoryStore(both)
    expect(await copied.findUser(email)).toMatchObject({ userId })
    expect(await copy(to, file('new.db'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--store directory or --store forms'),
    })
    expect(await copy(to, file('new.db'), '--store', 'forms')).toMatchObject({ code: 0 })
    expect(await copy(to, file('new.db'), '--store', 'directory')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('holds a forms store'),
    })
  })

  it('rejects a source that is not a store, and creates no file', async () => {
    const [none, text, to] = [file('none.db'), join(folder, 'text'), file('to.db')]
    writeFileSync(text, 'This is no database, and long enough to be looked at.')
    const refused = (from: string, message: string | RegExp, target = to) =>
      copy(from, target).then((outcome) =>
        expect(outcome).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(message) }),
      )

    await refused(none, `There is no directory or forms store at ${none}.`)
    await refused(
      `sqlite:${text}`,
      /store at \/.*text cannot be .*opened \(.*not a database\)\. Check --from\./,
    )
    await refused(none, 'the same store', none)
    await refused(none, 'the same store', `sqlite:${folder}/x/../none.db`)
    await refused(none, 'a store that stays', 'sqlite::memory:')
    await refused(newMongoUrl(), 'There is no directory or forms store')
    await refused('postgres://user:secret@host/db', /^(?!.*secret)/)

    expect(existsSync(join(folder, 'none.db'))).toBe(false)
    expect(existsSync(join(folder, 'to.db'))).toBe(false)
    expect(readFileSync(text, 'utf8')).toContain('no database')
  })

  it.each([
    ['has a form of its own', [newFormRecord(), newFormRecord()], /the source lacks organizations\//],
    ['has another state of a form', [newFormRecord()], /the store has different content with its formId/],
  ])('names the form where the target %s', async (_, records, message) => {
    const [from, to] = [file('forms.db'), file('copy.db')]
    const [shared] = records as [FormRecord]
    await fillWithoutEvents(from, [shared])
    await fillWithoutEvents(to, records.length > 1 ? records : [{ ...shared, version: 9 }])

    expect(await copy(from, to)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(message),
    })
  })
})

describe.each([
  ['SQLite', 'MongoDB', () => file('forms.db'), newMongoUrl],
  ['MongoDB', 'SQLite', newMongoUrl, () => file('copy.db')],
])('formctl copy of deleted forms from %s to %s', (_, __, fromUrl, toUrl) => {
  const organizationId = randomUUID()
  const records = [true, false, true, false, true].map((isDeleted, index) =>
    newFormRecord({ organizationId, revisions: index, replies: 2, isDeleted }),
  )

  it('keeps them restorable, and counts them apart', async () => {
    const [from, to] = [fromUrl(), toUrl()]
    await migrateFormsStore(from)
    await fill(from, records)
    const { publicId: formRef } = records[3]!
    {
      await using source = await openFormsStore(from, { deletedFormsDays: 30 })
      await source.delete({ organizationId, formRef }, () => {})
    }

    const { stdout } = await copy(from, to)

    expect(stdout).toMatch(
      /^Source and target are equal: 1 forms, 10 revisions, 10 replies, 4 deleted forms; /m,
    )
    expect(await recordsAt(to)).toEqual(await recordsAt(from))
    expect(await logsAt(to)).toEqual(await logsAt(from))
    await using target = await openFormsStore(to)
    expect(await target.get({ organizationId, formRef })).toBeUndefined()
    expect(await target.undelete({ organizationId, formRef }, () => {})).toMatchObject({ publicId: formRef })
    expect(await Array.fromAsync(target.organizations())).toEqual([{ organizationId, forms: 2 }])
  })

  it('purges none of them, even after their purgeTime and when the copy is repeated', async () => {
    const [from, to] = [fromUrl(), toUrl()]
    await migrateFormsStore(from)
    const purgeTime = new Date(Date.now() - 1).toISOString()
    const due = records.map((record) => ({
      ...record,
      ...(record.deletion && { deletion: { ...record.deletion, purgeTime } }),
    }))
    await fill(from, due)
    const content = await recordsAt(from)
    const log = await logsAt(from)

    const first = await copy(from, to)
    const repeat = await copy(from, to)

    expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining('3 deleted forms') })
    expect(repeat).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('0 records imported, 5 existed'),
    })
    for (const url of [from, to]) {
      expect(await recordsAt(url)).toEqual(content)
      expect(await logsAt(url)).toEqual(log)
    }
  })

  it('names a form that only the target has and that comes before them', async () => {
    const [from, to] = [fromUrl(), toUrl()]
    const [deleted, own] = [records[0]!, records[1]!]
    for (const url of [from, to]) {
      await migrateFormsStore(url)
      await fillWithoutEvents(url, [{ ...deleted, publicId: 'aaaaaaaaaa' }])
    }
    await fillWithoutEvents(to, [{ ...own, publicId: 'bbbbbbbbbb', revisions: [], live: null }])

    expect(await copy(from, to)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`the source lacks organizations/${organizationId}/forms/${own.formId}`),
    })
  })
})

describe.each([
  ['SQLite', 'SQLite', () => file('forms.db'), () => file('copy.db')],
  ['SQLite', 'MongoDB', () => file('forms.db'), newMongoUrl],
  ['MongoDB', 'SQLite', newMongoUrl, () => file('copy.db')],
])('formctl copy of events from %s to %s', (_, __, fromUrl, toUrl) => {
  const organizationId = randomUUID()
  const records = Array.from({ length: 4 }, () => newFormRecord({ organizationId }))
  const deleteForm = async (url: string, { formId }: FormRecord) => {
    await using store = await openFormsStore(url)
    await store.delete({ organizationId, formRef: formId }, () => {})
  }

  it('keeps their order, ids and positions, those of deleted forms and of pending changes included', async () => {
    const [from, to] = [fromUrl(), toUrl()]
    await migrateFormsStore(from)
    await fill(from, [...records, newFormRecord()])
    await deleteForm(from, records[1]!)

    expect(await copy(from, to)).toMatchObject({ code: 0 })

    const log = (await logsAt(to)).map(({ event }) => event).filter((event) => isOf(event, organizationId))
    const deleted = log.filter(({ subject }) => subject.endsWith(records[1]!.formId))
    expect(deleted.map(({ type }) => type)).toEqual(['form.imported', 'form.deleted'])
    expect(log.map(({ sequence }) => Number(sequence))).toEqual([1, 2, 3, 4, 5])
    expect(await logsAt(to)).toEqual(await logsAt(from))
    expect(await recordsAt(to)).toHaveLength(4)
  })

  it('keeps what the stream has and what retention has removed, and later changes follow', async () => {
    const [from, to] = [fromUrl(), toUrl()]
    await migrateFormsStore(from)
    await fill(from, records)
    await using source = await openFormsStore(from)
    await collectEvents(source.events)
    await source.events.markStreamed(organizationId, 3)
    await source.events.prune(new Date('2100-01-01T00:00:00Z'), 2)

    expect(await copy(from, to)).toMatchObject({ code: 0 })
    await deleteForm(to, records[0]!)

    await using target = await openFormsStore(to)
    await collectEvents(target.events)
    expect(await Array.fromAsync(target.events.logs())).toEqual([
      { organizationId, streamedSequence: 3, lastSequence: 5 },
    ])
    expect(await target.events.range(organizationId)).toEqual({ oldestSequence: 3, lastSequence: 5 })
  })

  it('resumes in the middle of a log', async () => {
    const [from, to] = [fromUrl(), toUrl()]
    for (const url of [from, to]) await migrateFormsStore(url)
    await fill(from, records)
    const log = await logsAt(from)
    await using target = await openFormsStore(to)
    for (const { event } of log.slice(0, 2)) await target.events.importEvent(event)

    const { stdout } = await copy(from, to, '--json')

    expect(JSON.parse(stdout).copies[0]).toMatchObject({ store: 'events', imported: 2, existing: 2 })
    expect(await logsAt(to)).toEqual(log)
  })

  it('rejects a target with another event at a position', async () => {
    const [from, to] = [fromUrl(), toUrl()]
    for (const url of [from, to]) {
      await migrateFormsStore(url)
      await fill(url, [newFormRecord({ organizationId })])
    }

    expect(await copy(from, to)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^error: The event .* was not imported: .* has another event at 0000000000000001/,
      ),
    })
  })
})

const isOf = ({ source }: FormEvent, organizationId: string) => source.endsWith(organizationId)
