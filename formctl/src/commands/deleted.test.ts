import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FormRecord } from '@fms/contracts'
import { openFormsStore } from '@fms/forms-store'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { newFormRecord } from '../testing/form-record.ts'
import { runFormctl, type TerminalInput } from '../testing/run-formctl.ts'

let dataDir: string
let organizationId: string

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'formctl-deleted-'))
  vi.stubEnv('DATA_DIR', dataDir)
  for (const name of ['DIRECTORY_STORE_URL', 'FORMS_STORE_URL', 'FORMS_API_URL']) vi.stubEnv(name, '')
  await runFormctl(['migrate'])
  organizationId = await givenOrganization('acme')
})

afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(dataDir, { recursive: true })
})

const openForms = () => openFormsStore(`sqlite:${join(dataDir, 'forms.db')}`)

const givenOrganization = async (slug: string): Promise<string> =>
  JSON.parse((await runFormctl(['organization', 'create', '--name', slug, '--slug', slug, '--json'])).stdout)
    .id

/** A deleted form in the store. @param changes members of its deletion. */
const givenDeleted = async (changes: Partial<FormRecord['deletion']> = {}): Promise<FormRecord> => {
  const record = newFormRecord({ organizationId, revisions: 2, replies: 3, isDeleted: true })
  const deleted = { ...record, deletion: { ...record.deletion!, ...changes } }
  await using store = await openForms()
  await store.importForm(deleted)
  return deleted
}

const storedRecords = async () => {
  await using store = await openForms()
  return await Array.fromAsync(store.exportForms(organizationId))
}

const deleted = (args: string[], terminal?: TerminalInput) =>
  runFormctl(['deleted', ...args, '--organization', 'acme'], terminal)

describe('formctl deleted list', () => {
  it('lists the deleted forms, the latest first, and not the others', async () => {
    const older = await givenDeleted({ deleteTime: '2026-11-20T10:00:00.000Z' })
    const newer = await givenDeleted({ deleteTime: '2026-11-21T10:00:00.000Z', deleter: '' })
    await using store = await openForms()
    await store.importForm(newFormRecord({ organizationId }))

    const { stdout } = await deleted(['list'])

    expect(JSON.parse(stdout)).toEqual({
      deletedForms: [newer, older].map(({ formId, publicId, draft, deletion }) => ({
        id: formId,
        publicId,
        name: draft.name,
        ...deletion,
      })),
    })
    const table = (await deleted(['list'], { isOutputTty: true })).stdout.split('\n')
    expect(table[0]).toMatch(/^ID +PUBLIC ID +NAME +DELETED +BY +PURGED AFTER$/)
    expect(table[1]).toMatch(/2026-11-21 10:00 +an operator +2100-01-01 00:00$/)
    expect(table[2]).toContain(older.deletion!.deleter)
  })

  it('says that there are none', async () => {
    expect(await deleted(['list'], { isOutputTty: true })).toMatchObject({
      code: 0,
      stdout: 'There are no deleted forms.\n',
    })
  })
})

describe('formctl deleted undelete', () => {
  it.each(['formId', 'publicId'] as const)('restores the form of a %s as it was', async (ref) => {
    const { deletion: _, ...record } = await givenDeleted()

    expect(await deleted(['undelete', record[ref]])).toMatchObject({
      code: 0,
      stdout: `Restored the form ${record.publicId} ${JSON.stringify(record.draft.name)}.\n`,
    })

    expect(await storedRecords()).toEqual([record])
    expect(await deleted(['undelete', record[ref]])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        `There is no organizations/${organizationId}/deletedForms/${record[ref]}`,
      ),
    })
  })

  it('does not find a form of another organization', async () => {
    const { publicId } = await givenDeleted()
    await givenOrganization('looms')

    expect(await runFormctl(['deleted', 'undelete', publicId, '--organization', 'looms'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There is no organizations/'),
    })
    expect(await storedRecords()).toHaveLength(1)
  })
})

describe('formctl deleted purge', () => {
  it('removes the form after a confirmation', async () => {
    const kept = await givenDeleted()
    const { formId, publicId } = await givenDeleted()

    const refused = await deleted(['purge', publicId], { typed: 'n' })
    expect(refused).toMatchObject({ code: 1, stderr: 'error: Nothing was changed.\n' })
    expect(refused.prompts).toEqual([expect.stringContaining(`Purge the form ${publicId} `)])
    expect(await storedRecords()).toHaveLength(2)

    expect(await deleted(['purge', publicId, '--yes', '--json'])).toMatchObject({
      code: 0,
      stdout: `{"id":"${formId}"}\n`,
    })
    expect(await storedRecords()).toEqual([kept])
  })

  it('rejects a form that is not deleted', async () => {
    const record = newFormRecord({ organizationId })
    await using store = await openForms()
    await store.importForm(record)

    expect(await deleted(['purge', record.formId, '--yes'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There is no organizations/'),
    })
    expect(await storedRecords()).toEqual([record])
  })
})
