import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { FormDraft, FormRecord, formPath } from '@fms/contracts'
import { draftArbitrary } from '@fms/contracts/arbitrary'
import { openFormsStore } from '@fms/forms-store'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { newFormRecord } from '../testing/form-record.ts'
import { runFormctl } from '../testing/run-formctl.ts'

let dataDir: string
let file: string

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'formctl-forms-'))
  file = join(dataDir, 'forms.ndjson')
  vi.stubEnv('DATA_DIR', dataDir)
  for (const name of ['DIRECTORY_STORE_URL', 'FORMS_STORE_URL']) vi.stubEnv(name, '')
  await runFormctl(['migrate'])
})

afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(dataDir, { recursive: true })
})

const openForms = () => openFormsStore(`sqlite:${join(dataDir, 'forms.db')}`)

const fill = async (records: FormRecord[]) => {
  await using store = await openForms()
  for (const record of records) await store.importForm(record)
}

/** All records of the store, in order. */
const storedRecords = async () => {
  await using store = await openForms()
  const records: FormRecord[] = []
  for await (const { organizationId } of store.organizations()) {
    records.push(...(await Array.fromAsync(store.exportForms(organizationId))))
  }
  return records
}

const givenOrganization = async (slug: string): Promise<string> =>
  JSON.parse((await runFormctl(['organization', 'create', '--name', slug, '--slug', slug, '--json'])).stdout)
    .id

const clearStore = () => {
  for (const name of readdirSync(dataDir)) if (name.startsWith('forms.db')) rmSync(join(dataDir, name))
}

const toLines = (records: unknown[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('')
const parseLines = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

const exportTo = (path: string, ...args: string[]) => runFormctl(['forms', 'export', '--out', path, ...args])
const importFrom = (...args: string[]) => runFormctl(['forms', 'import', file, ...args])

describe('formctl forms export', () => {
  it('writes a line for each form with all of its data', async () => {
    await fill([
      newFormRecord({ revisions: 2, replies: 40 }),
      newFormRecord(),
      newFormRecord({ revisions: 1 }),
      newFormRecord({ revisions: 1, replies: 2, isDeleted: true }),
    ])

    const { code, stdout, stderr } = await runFormctl(['forms', 'export'])

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.endsWith('\n')).toBe(true)
    expect(parseLines(stdout)).toEqual(await storedRecords())
  })

  it('writes the forms of one organization', async () => {
    const organizationId = await givenOrganization('acme')
    const own = newFormRecord({ organizationId })
    await fill([newFormRecord(), own])

    for (const ref of ['acme', organizationId.toUpperCase()]) {
      expect(parseLines((await runFormctl(['forms', 'export', '--organization', ref])).stdout)).toEqual([own])
    }
    expect(await runFormctl(['forms', 'export', '--organization', 'nobody'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There is no organization nobody'),
    })
  })

  it('writes a new file that only its owner can read, and never overwrites a file', async () => {
    await fill([newFormRecord()])

    expect(await exportTo(file, '--json')).toMatchObject({ stdout: `{"forms":1,"file":"${file}"}\n` })

    const text = readFileSync(file, 'utf8')
    expect(parseLines(text)).toEqual(await storedRecords())
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(await exportTo(file)).toMatchObject({ code: 1, stderr: expect.stringContaining('exists') })
    const nowhere = join(dataDir, 'nowhere', 'forms.ndjson')
    const stderr = `error: ${nowhere} cannot be created (ENOENT). Choose another name.\n`
    expect(await exportTo(nowhere)).toMatchObject({ code: 1, stderr })
    expect(readFileSync(file, 'utf8')).toBe(text)
    const other = join(dataDir, 'other.ndjson')
    expect(await exportTo(other)).toMatchObject({ stdout: `Exported 1 form to ${other}.\n` })
    expect(readdirSync(dataDir).filter((name) => name.includes('unfinished'))).toEqual([])
  })
})

describe('formctl forms import', () => {
  it('makes an empty store equal to the exported one', async () => {
    await fill(
      Array.from({ length: 20 }, (_, index) =>
        newFormRecord({ revisions: index % 3, replies: index * 3, isDeleted: index % 4 === 0 }),
      ),
    )
    const before = await storedRecords()
    await exportTo(file)
    clearStore()

    expect(await importFrom()).toMatchObject({
      code: 0,
      stdout: 'Imported 20 forms; already there: 0.\n',
    })

    expect(await storedRecords()).toEqual(before)
  })

  it('skips existing forms, so that it can be repeated', async () => {
    const records = [newFormRecord(), newFormRecord({ revisions: 1 }), newFormRecord()]
    writeFileSync(file, toLines(records))
    await fill(records.slice(0, 1))

    expect(await importFrom('--json')).toMatchObject({ stdout: '{"imported":2,"existing":1,"expired":0}\n' })
    expect(await importFrom('--json')).toMatchObject({ stdout: '{"imported":0,"existing":3,"expired":0}\n' })
    expect(await storedRecords()).toHaveLength(3)
  })

  it('restores any draft', async () => {
    const property = fc.asyncProperty(
      fc.array(draftArbitrary, { minLength: 1, maxLength: 5 }),
      async (drafts) => {
        const records = drafts.map((draft) => ({ ...newFormRecord(), draft: FormDraft.parse(draft) }))
        writeFileSync(file, toLines(records))

        expect(await importFrom()).toMatchObject({ code: 0, stderr: '' })

        const byId = new Map((await storedRecords()).map((record) => [record.formId, record]))
        for (const record of records) {
          expect(byId.get(record.formId)).toEqual(JSON.parse(JSON.stringify(record)))
        }
        expect(await importFrom('--json')).toMatchObject({
          stdout: `{"imported":0,"existing":${records.length},"expired":0}\n`,
        })
      },
    )
    await fc.assert(property, { numRuns: 20 })
  })

  it('imports forms into another organization', async () => {
    const record = newFormRecord({ revisions: 2, replies: 1 })
    writeFileSync(file, toLines([record]))
    const organizationId = await givenOrganization('acme')

    expect(await importFrom('--organization', 'acme')).toMatchObject({ code: 0 })

    const [imported] = (await storedRecords()) as [FormRecord]
    const path = formPath(imported)
    expect(imported).toEqual({
      ...record,
      organizationId,
      revisions: record.revisions.map((revision) => ({ ...revision, form: { ...revision.form, path } })),
    })
  })

  it('creates new forms: fresh ids, times and counts, the same drafts and revisions', async () => {
    const record = newFormRecord({ revisions: 2, replies: 3 })
    await fill([record])
    await exportTo(file)
    const begin = new Date().toISOString()

    expect(await importFrom('--as-new', '--json')).toMatchObject({
      stdout: '{"imported":1,"existing":0,"expired":0}\n',
    })

    const fresh = (await storedRecords()).find(({ formId }) => formId !== record.formId)!
    expect(await storedRecords()).toContainEqual(record)
    const time = fresh.createTime
    expect(time >= begin).toBe(true)
    expect(fresh).toMatchObject({
      organizationId: record.organizationId,
      updateTime: time,
      version: 1,
      draft: record.draft,
      replyCount: 0,
      replyIds: [],
      live: { number: 2, revisionId: fresh.revisions[1]!.revisionId },
    })
    expect(fresh.revisions.map(({ form }) => form)).toEqual(
      record.revisions.map(({ form }) => ({
        ...form,
        path: formPath(fresh),
        publicId: fresh.publicId,
        publicUrl: `https://forms.example/f/${fresh.publicId}`,
        createTime: time,
        updateTime: time,
        replyCount: 0,
      })),
    )
    const notes = record.revisions.map(({ note }) => note)
    expect(fresh.revisions.map(({ note }) => note)).toEqual(notes)
    for (const revision of fresh.revisions) expect(revision).not.toHaveProperty('publisher')
    const idsOf = ({ formId, publicId, revisions }: FormRecord) => [
      formId,
      publicId,
      ...revisions.flatMap(({ revisionId, commandId }) => [revisionId, commandId]),
    ]
    expect(new Set([...idsOf(fresh), ...idsOf(record)]).size).toBe(12)
    expect(FormRecord.parse(fresh)).toEqual(fresh)
  })

  it('keeps a deleted form deleted: in its organization, and as a new one', async () => {
    const record = newFormRecord({ revisions: 1, isDeleted: true })
    writeFileSync(file, toLines([record]))

    expect(await importFrom('--dry-run', '--json')).toMatchObject({
      stdout: '{"imported":1,"existing":0,"expired":0}\n',
    })
    for (const options of [[], ['--as-new']]) expect(await importFrom(...options)).toMatchObject({ code: 0 })
    expect(await importFrom('--dry-run', '--json')).toMatchObject({
      stdout: '{"imported":0,"existing":1,"expired":0}\n',
    })

    const records = await storedRecords()
    const fresh = records.find(({ formId }) => formId !== record.formId)!
    expect(records).toHaveLength(2)
    expect(records).toContainEqual(record)
    const [before, after] = [record.deletion!, fresh.deletion!]
    expect(after).toMatchObject({ deleteTime: fresh.createTime, deleter: '' })
    const msOf = ({ deleteTime, purgeTime }: typeof before) => Date.parse(purgeTime) - Date.parse(deleteTime)
    expect(msOf(after)).toBe(msOf(before))
    await using store = await openForms()
    expect(await Array.fromAsync(store.organizations())).toEqual([
      { organizationId: record.organizationId, forms: 0 },
    ])
  })

  it('skips deleted forms that can no longer be restored, but not as new ones', async () => {
    const record = newFormRecord({ revisions: 1, isDeleted: true })
    const expired = {
      ...record,
      deletion: { ...record.deletion!, purgeTime: new Date(Date.now() - 1).toISOString() },
    }
    const other = newFormRecord()
    writeFileSync(file, toLines([expired, other]))

    expect(await importFrom('--dry-run', '--json')).toMatchObject({
      stdout: '{"imported":1,"existing":0,"expired":1}\n',
    })
    expect(await importFrom()).toMatchObject({
      code: 0,
      stdout:
        'Imported 1 form; already there: 0.\n' +
        'Skipped 1 deleted form with a purgeTime in the past, which cannot be restored.\n',
    })

    expect(await storedRecords()).toEqual([other])
    {
      await using store = await openForms()
      expect(await Array.fromAsync(store.events.logs())).toMatchObject([
        { organizationId: other.organizationId, lastSequence: 1 },
      ])
    }
    writeFileSync(
      file,
      toLines([{ ...expired, deletion: { ...expired.deletion, deleteTime: '2026-01-01T00:00:00.000Z' } }]),
    )
    expect(await importFrom('--as-new', '--json')).toMatchObject({
      stdout: '{"imported":1,"existing":0,"expired":0}\n',
    })
    const fresh = (await storedRecords()).find(({ deletion }) => deletion)!
    expect(Date.parse(fresh.deletion!.purgeTime)).toBeGreaterThan(Date.now())
  })

  it('resumes from a line', async () => {
    writeFileSync(file, toLines([newFormRecord(), newFormRecord(), newFormRecord()]))

    expect(await importFrom('--as-new', '--from-line', '3', '--json')).toMatchObject({
      stdout: '{"imported":1,"existing":0,"expired":0}\n',
    })
  })

  it.each([
    ['resumes from the same line', [], 'The lines before are imported. Resume with --from-line 3.'],
    ['repeats a dry run', ['--dry-run'], 'Repeat the command to resume.'],
  ])('%s after Ctrl-C before the first form', async (_, options, hint) => {
    writeFileSync(file, toLines([newFormRecord(), newFormRecord(), newFormRecord()]))
    const interrupt = (event: string | symbol) =>
      event === 'SIGINT' && queueMicrotask(() => process.emit('SIGINT'))
    process.on('newListener', interrupt)

    const { code, stderr } = await importFrom('--as-new', '--from-line', '3', ...options)
    process.off('newListener', interrupt)

    expect({ code, stderr }).toEqual({ code: 1, stderr: `error: Interrupted. ${hint}\n` })
    expect(await storedRecords()).toEqual([])
  })

  it('says where to resume the import of new forms after a failure', async () => {
    writeFileSync(file, toLines([newFormRecord(), newFormRecord()]))
    {
      using database = new DatabaseSync(join(dataDir, 'forms.db'))
      const isSecond = '(SELECT count(*) FROM forms) = 1'
      const fails = "SELECT RAISE(ABORT, 'failed')"
      database.exec(`CREATE TRIGGER x BEFORE INSERT ON forms WHEN ${isSecond} BEGIN ${fails}; END`)
    }

    expect(await importFrom('--as-new')).toMatchObject({
      code: 1,
      stderr: 'error: line 2: failed\nThe lines before are imported. Resume with --from-line 2.\n',
    })
  })

  it('stores nothing in a dry run, and prints what an import would do', async () => {
    const [there, gone] = [newFormRecord({ revisions: 1 }), newFormRecord()]
    writeFileSync(file, toLines([there, gone]))
    await fill([there])

    expect(await importFrom('--dry-run')).toMatchObject({
      stdout: 'Would import 1 form; already there: 1.\n',
    })

    expect(await storedRecords()).toEqual([there])
    writeFileSync(file, toLines([gone, { ...there, version: 9 }]))
    expect(await importFrom('--dry-run')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^error: line 2: organizations.* was not imported: the store has different content with its formId/,
      ),
    })
  })

  it.each([
    ['deleted', true],
    ['not deleted', false],
  ])('rejects a form that is %s in the file alone, also in a dry run', async (_, isDeleted) => {
    const record = newFormRecord({ revisions: 1, isDeleted: true })
    const { deletion: __, ...current } = record
    await fill([isDeleted ? current : record])
    writeFileSync(file, toLines([isDeleted ? record : current]))

    for (const options of [['--dry-run'], []]) {
      expect(await importFrom(...options)).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(
          /^error: line 1: organizations.* was not imported: the store has different content with its formId/,
        ),
      })
    }
  })

  it('lists all problems of each invalid line, and imports nothing', async () => {
    const good = newFormRecord({ revisions: 1 })
    const text = JSON.stringify(newFormRecord())
    const surrogate = JSON.stringify({ ...newFormRecord(), publicId: '\ud800' })
    writeFileSync(
      file,
      [
        JSON.stringify(good),
        text.slice(0, -10),
        '',
        '[]',
        JSON.stringify({ ...newFormRecord(), publicId: 'short', extra: 1, draft: { name: '' } }),
        JSON.stringify({ ...good, live: { revisionId: good.formId, number: 1 } }),
        text.replace('{', '{"__proto__":1,'),
        surrogate,
        JSON.stringify({ ...newFormRecord(), createTime: '2026-11-20' }),
        '',
      ].join('\n'),
    )

    const { code, stdout, stderr } = await importFrom()

    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr.split('\n')[0]).toBe(`error: Nothing was imported from ${file}:`)
    for (const problem of [
      /^line 2: is not JSON: column \d+: expected /m,
      /^line 4: must be an object$/m,
      /^line 5: publicId must be 10 letters and digits$/m,
      /^line 5: extra is not a known field$/m,
      /^line 5: draft\.name must have 1 to 200 characters$/m,
      /^line 6: live must be one of the revisions$/m,
      /^line 7: __proto__ is not an allowed name$/m,
      /^line 8: has half a surrogate pair at publicId\.$/m,
      /^line 9: createTime /m,
    ]) {
      expect(stderr).toMatch(problem)
    }
    expect(stderr).not.toMatch(/^line [13]:/m)
    expect(await storedRecords()).toEqual([])
  })

  it('accepts a complete last line without a newline', async () => {
    const text = toLines([newFormRecord(), newFormRecord()])
    writeFileSync(file, text.slice(0, -1))
    expect(await importFrom('--json')).toMatchObject({ stdout: '{"imported":2,"existing":0,"expired":0}\n' })

    writeFileSync(file, text.slice(0, -2))
    expect(await importFrom()).toMatchObject({ code: 1, stderr: expect.stringMatching(/^line 2: /m) })
  })

  it('names the line whose form conflicts with a stored form', async () => {
    const [one, other] = [newFormRecord(), newFormRecord()]
    await fill([one])
    writeFileSync(file, toLines([other, { ...newFormRecord(), publicId: one.publicId }]))

    expect(await importFrom()).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^error: line 2: .* with its publicId, /),
    })
  })

  it.each([[['--from-line', '0']], [['--from-line', 'x']], [['surplus']]])('rejects %j', async (args) => {
    writeFileSync(file, '')

    expect(await importFrom(...args)).toMatchObject({ code: 2, stdout: '' })
  })

  it('rejects a missing file', async () => {
    expect(await importFrom()).toMatchObject({ code: 1, stderr: `error: There is no file ${file}.\n` })
  })
})
