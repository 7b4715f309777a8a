import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { FormRecord } from '@fms/contracts'
import { openFormsStore } from '@fms/forms-store'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { newFormRecord } from '../testing/form-record.ts'
import { runFormctl, type TerminalInput } from '../testing/run-formctl.ts'

let dataDir: string
let acmeId: string

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'formctl-revisions-'))
  vi.stubEnv('DATA_DIR', dataDir)
  for (const name of ['DIRECTORY_STORE_URL', 'FORMS_STORE_URL']) vi.stubEnv(name, '')
  await runFormctl(['migrate'])
  const acme = await runFormctl(['organization', 'create', '--name', 'Acme', '--slug', 'acme', '--json'])
  acmeId = JSON.parse(acme.stdout).id
})

afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(dataDir, { recursive: true })
})

const openForms = () => openFormsStore(`sqlite:${join(dataDir, 'forms.db')}`)

const dayMs = 24 * 60 * 60 * 1000
const daysAgo = (days: number) => new Date(Date.now() - days * dayMs).toISOString()

/** Stores a form with a revision for each age in days, oldest first. */
const givenRevisions = async (ages: number[], organizationId = acmeId): Promise<FormRecord> => {
  const record = newFormRecord({ organizationId, revisions: ages.length })
  const revisions = record.revisions.map((each, index) => ({ ...each, createTime: daysAgo(ages[index]!) }))
  const stored = { ...record, revisions }
  await using store = await openForms()
  await store.importForm(stored)
  return stored
}

const numbersOf = async ({ organizationId, formId }: FormRecord) => {
  await using store = await openForms()
  for await (const record of store.exportForms(organizationId)) {
    if (record.formId === formId) return record.revisions.map(({ number }) => number)
  }
  return undefined
}

const prune = (args: string[], input?: TerminalInput) => runFormctl(['revisions', 'prune', ...args], input)
const pruned = async (args: string[]) => JSON.parse((await prune([...args, '--json'])).stdout)
const bytesOf = (record: FormRecord, count: number) =>
  record.revisions.slice(0, count).reduce((sum, { form }) => sum + Buffer.byteLength(JSON.stringify(form)), 0)

describe('formctl revisions prune', () => {
  it('deletes all but the newest revisions of each form, and frees their bytes', async () => {
    const [first, second] = [await givenRevisions([9, 8, 7, 6]), await givenRevisions([9, 8])]
    await givenRevisions([9])
    const usage = async () => {
      await using store = await openForms()
      return (await store.usage(acmeId)).bytes
    }
    const before = await usage()
    const bytes = bytesOf(first, 3) + bytesOf(second, 1)

    const { code, stdout } = await prune(['--keep', '1'])

    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `Deleted 4 revisions of 2 forms (${bytes} bytes).\n`,
    })
    expect(await numbersOf(first)).toEqual([4])
    expect(await numbersOf(second)).toEqual([2])
    expect(await usage()).toBe(before - bytes)
    expect(await pruned(['--keep', '1'])).toEqual({ dryRun: false, forms: 0, revisions: 0, bytes: 0 })
  })

  it('measures the same with --dry-run, and deletes nothing', async () => {
    const record = await givenRevisions([9, 8, 7, 6])
    const expected = { forms: 1, revisions: 2, bytes: bytesOf(record, 2) }

    expect(await pruned(['--keep', '2', '--dry-run'])).toEqual({ dryRun: true, ...expected })
    expect((await prune(['--keep', '2', '--dry-run'])).stdout).toMatch(/^Would delete 2 revisions of 1 form /)
    expect(await numbersOf(record)).toEqual([1, 2, 3, 4])
    expect(await pruned(['--keep', '2'])).toEqual({ dryRun: false, ...expected })
  })

  it('keeps revisions that are younger than --older-than, and always those of the last day', async () => {
    const record = await givenRevisions([100, 91, 89, 0.5, 0.1])

    await prune(['--keep', '1', '--older-than', '90d'])
    expect(await numbersOf(record)).toEqual([3, 4, 5])
    await prune(['--keep', '1', '--older-than', '1h'])
    expect(await numbersOf(record)).toEqual([4, 5])
  })

  it('prunes only the organization, by slug or id', async () => {
    const [own, other] = [await givenRevisions([9, 8]), await givenRevisions([9, 8], crypto.randomUUID())]

    expect(await pruned(['--keep', '1', '--organization', 'acme'])).toMatchObject({ revisions: 1 })

    expect(await numbersOf(own)).toEqual([2])
    expect(await numbersOf(other)).toEqual([1, 2])
    expect(await pruned(['--keep', '1', '--organization', acmeId])).toMatchObject({ revisions: 0 })
    expect(await prune(['--keep', '1', '--organization', 'nobody'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There is no organization nobody'),
    })
  })

  it('asks on a terminal, but not for a dry run or with --yes', async () => {
    const record = await givenRevisions([9, 8])

    expect(await prune(['--keep', '1'], { typed: 'n' })).toMatchObject({
      code: 1,
      prompts: [
        'Permanently delete all revisions of all organizations, except for the 1 newest of each form? [y/N] ',
      ],
    })
    const aged = await prune(['--keep', '1', '--older-than', '90d'], { typed: 'n' })
    expect(aged.prompts).toEqual([
      expect.stringMatching(
        /all organizations from before \d{4}-\d\d-\d\dT[\d:.]+Z, except for the 1 newest/,
      ),
    ])
    expect(await numbersOf(record)).toEqual([1, 2])
    expect((await prune(['--keep', '1', '--dry-run'], { typed: 'n' })).prompts).toEqual([])
    expect(await prune(['--keep', '1', '--yes'], { typed: 'n' })).toMatchObject({ code: 0, prompts: [] })
    expect(await numbersOf(record)).toEqual([2])
  })

  it.each([
    [[]],
    [['--keep', '0']],
    [['--keep', '-1']],
    [['--keep', '1.5']],
    [['--keep', 'all']],
    [['--keep', '1', '--older-than', '90']],
  ])('is invalid usage with %j', async (args) => {
    expect(await prune(args)).toMatchObject({ code: 2, stdout: '' })
  })

  it('ends with Ctrl-C after a batch, and continues when it is repeated', async () => {
    const records = [await givenRevisions(Array(1_200).fill(9)), await givenRevisions(Array(1_200).fill(9))]
    const listeners = process.listenerCount('SIGINT')
    const running = prune(['--keep', '1'])
    await vi.waitUntil(() => process.listenerCount('SIGINT') > listeners, { timeout: 10_000, interval: 1 })
    process.emit('SIGINT')

    const { code, stdout, stderr } = await running

    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^error: Interrupted\. \d+ revisions are deleted\. Repeat the command/)
    const deleted = Number(/\d+/.exec(stderr))
    expect(deleted).toBeLessThan(2 * 1_199)
    expect(await pruned(['--keep', '1'])).toMatchObject({ revisions: 2 * 1_199 - deleted })
    for (const record of records) expect(await numbersOf(record)).toEqual([1_200])
  })

  it('continues after it was killed', async () => {
    const record = await givenRevisions([9])
    const { organizationId, formId } = record
    using file = new DatabaseSync(join(dataDir, 'forms.db'))
    const count = 20_000
    file
      .prepare(
        `WITH RECURSIVE numbers (number) AS (SELECT 2 UNION ALL SELECT number + 1 FROM numbers LIMIT ?)
         INSERT INTO revisions SELECT formId || number, id, organizationId, number, number, 0, '', '', '{}'
         FROM numbers CROSS JOIN forms WHERE formId = ?`,
      )
      .run(count - 1, formId)
    file.exec(
      'UPDATE usage SET (revisions, revisionBytes) = (SELECT count(*), sum(octet_length(form)) FROM revisions)',
    )
    const live =
      'UPDATE forms SET revisionNumber = ?1, liveNumber = ?1, liveRevisionId = ?2 WHERE formId = ?3'
    file.prepare(live).run(count, formId + count, formId)
    file.prepare('UPDATE revisions SET createTime = 0 WHERE number = 1').run()
    const left = () => file.prepare('SELECT count(*) AS left FROM revisions').get()!.left as number

    const program = join(import.meta.dirname, '../formctl.ts')
    const killed = spawn(process.execPath, [program, 'revisions', 'prune', '--keep', '3'])
    const exit = once(killed, 'exit')
    await vi.waitUntil(() => left() < count, { timeout: 20_000, interval: 1 })
    killed.kill('SIGKILL')
    await exit

    const leftAfterKill = left()
    const sum = 'SELECT sum(octet_length(form)) AS bytes FROM revisions'
    const { bytes } = file.prepare(sum).get()!
    await using store = await openForms()
    expect(await store.revisionGrowth.total()).toEqual({ revisions: leftAfterKill, bytes })
    expect(await store.getRevisionState({ organizationId, formRef: formId }, 'live')).toBeDefined()
    expect(await pruned(['--keep', '3'])).toMatchObject({ revisions: leftAfterKill - 3 })
    expect(left()).toBe(3)
  })
})
