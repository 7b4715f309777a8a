import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { FormDraft, type FormRecord } from '@fms/contracts'
import { openDirectoryStore } from '@fms/directory-store'
import { makePublicId, openFormsStore } from '@fms/forms-store'
import { startMongo } from '@fms/testkit/mongodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/moving.md'), 'utf8')
const blocks = [...page.matchAll(/^ *```sh\n(.*?)^ *```$/gms)].map(([, script]) => script!)

const mongo = await startMongo()
let folder: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'docs-moving-'))
  await using directory = await openDirectoryStore(`sqlite:${join(folder, '.data/directory.db')}`)
  const { organizationId } = await directory.createOrganization({ name: 'Acme', slug: 'acme' })
  await using forms = await openFormsStore(`sqlite:${join(folder, '.data/forms.db')}`)
  for (const record of [newRecord(organizationId), newRecord(organizationId)]) await forms.importForm(record)
})

afterAll(async () => {
  rmSync(folder, { recursive: true })
  await mongo[Symbol.asyncDispose]()
})

const newRecord = (organizationId: string): FormRecord => ({
  organizationId,
  formId: randomUUID(),
  publicId: makePublicId(),
  createTime: '2026-11-20T09:30:00.000Z',
  updateTime: '2026-11-20T09:30:00.000Z',
  version: 1,
  draft: FormDraft.parse({}),
  revisionNumber: 0,
  live: null,
  revisions: [],
  replyCount: 0,
  replyIds: [],
})

const runBlock = async (script: string) => {
  const formctl = `formctl() { node ${join(root, 'formctl/src/formctl.ts')} "$@"; }`
  const pasted = script.replaceAll('mongodb://127.0.0.1:27017/forms', mongo.url)
  const { stdout } = await promisify(execFile)('sh', ['-euc', `${formctl}\n${pasted}`], {
    cwd: folder,
    env: {
      PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    },
  })
  return stdout
}

describe('docs/moving.md', () => {
  it('has commands that work when pasted one after another', async () => {
    const outputs: string[] = []
    for (const block of blocks) outputs.push(await runBlock(block))

    const [copied, exported, importedAsNew] = outputs
    expect(copied).toMatch(/equal: 0 users, 1 organizations/)
    expect(copied).toMatch(/equal: 2 forms, 0 revisions, 0 replies; SHA-256 [0-9a-f]{64}$/m)
    expect(exported).toContain('Would import 0 forms; already there: 2.')
    expect(importedAsNew).toBe('Imported 2 forms; already there: 0.\nImported 1 form; already there: 0.\n')
  }, 60_000)

  it('documents every member of a record', () => {
    const members = Object.keys(newRecord(randomUUID()))
    expect(members.filter((member) => !page.includes(`\`${member}\``))).toEqual([])
  })
})
