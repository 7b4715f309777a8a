import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openFormsStore } from '@fms/forms-store'
import type { Command } from 'commander'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createProgram } from '../run.ts'
import { newApiForm } from '../testing/api-form.ts'
import { type Received, startFakeApi } from '../testing/fake-api.ts'
import { newFormRecord } from '../testing/form-record.ts'
import { runFormctl } from '../testing/run-formctl.ts'
import { exampleDeletedForm, exampleForm, exampleKeyId } from './command.ts'
import { processTerminal } from './terminal.ts'

/** The words of every command without subcommands. */
const pathsBelow = (command: Command, path: string[] = []): string[][] =>
  command.commands.length === 0
    ? [path]
    : command.commands.flatMap((each) => pathsBelow(each, [...path, each.name()]))

const paths = [[], ...pathsBelow(createProgram(processTerminal()))]

const examplesOf = async (path: string[]): Promise<string[]> => {
  const { stdout } = await runFormctl([...path, '--help'])
  const [, below = ''] = stdout.split('\nExamples:\n')
  return [...below.matchAll(/^ {2}\$ (formctl .*)$/gm)].map(([, example]) => example!)
}

/** The arguments of an example, split by a shell. */
const wordsOf = (example: string): string[] => {
  const script = `formctl() { printf '%s\\0' "$@"; }\n${example}`
  return execFileSync('sh', ['-euc', script], { encoding: 'utf8' }).split('\0').slice(0, -1)
}

const examples = (
  await Promise.all(paths.map(async (path) => (await examplesOf(path)).map((example) => ({ path, example }))))
).flat()

/** Runs a command that ends with Ctrl-C. */
const runUntilInterrupted = async (words: string[]) => {
  const listeners = process.listenerCount('SIGINT')
  const running = runFormctl(words)
  await vi.waitUntil(() => process.listenerCount('SIGINT') > listeners, { timeout: 10_000 })
  process.emit('SIGINT')
  return await running
}

const givenDeletedForm = async (organizationId: string) => {
  const record = newFormRecord({ organizationId, isDeleted: true })
  await using store = await openFormsStore(`sqlite:${join(dataDir, 'forms.db')}`)
  await store.importForm({ ...record, publicId: exampleDeletedForm })
}

/** Responds as the API does for the commands that work only by it. */
const respond = ({ url }: Received) => {
  const form = newApiForm({ publicId: exampleForm })
  const comparison = { from: form.path, to: form.path, changes: [], breakingCount: 0 }
  if (url!.endsWith('/check')) return { body: { publishable: true, violations: [], warnings: [] } }
  return { body: url!.includes('/changes?') ? comparison : form }
}

let dataDir: string

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'formctl-'))
  vi.stubEnv('DATA_DIR', dataDir)
  for (const name of ['DIRECTORY_STORE_URL', 'FORMS_STORE_URL', 'NATS_URL', 'FORMS_API_URL'])
    vi.stubEnv(name, '')
})

afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(dataDir, { recursive: true })
})

describe('the help of each command', () => {
  it.each(paths.map((path) => [path.join(' ')]))('formctl %s has an example of the command', (path) => {
    const own = examples.filter((each) => each.path.join(' ') === path)

    expect(own).not.toEqual([])
    for (const { example } of own) expect(example).toContain(`formctl ${path}`.trim())
  })

  it.each(examples.map(({ example }) => [example]))('%s works', async (example) => {
    await runFormctl(['migrate'])
    await runFormctl(['user', 'create', '--email', 'ada@example.com'])
    const created = await runFormctl(['organization', 'create', '--name', 'Acme', '--slug', 'acme', '--json'])
    const acmeAndAda = ['--organization', 'acme', '--user', 'ada@example.com']
    if (!example.includes('member add')) await runFormctl(['member', 'add', ...acmeAndAda])
    const key = await runFormctl(['key', 'create', '--user', 'ada@example.com', '--json'])
    const { id } = JSON.parse(key.stdout)

    if (/restore|verify/.test(example)) await runFormctl(['backup', join(dataDir, 'backup')])
    if (example.includes('restore')) {
      for (const name of ['directory.db', 'forms.db']) rmSync(join(dataDir, name))
    }
    if (example.includes('forms import')) {
      await runFormctl(['forms', 'export', '--out', join(dataDir, 'forms.ndjson')])
    }

    if (example.includes('forms check')) writeFileSync(join(dataDir, `${exampleForm}.json`), '{}')

    if (example.includes(exampleDeletedForm)) await givenDeletedForm(JSON.parse(created.stdout).id)

    await using api = await startFakeApi(respond)
    if (example.includes(exampleForm)) {
      vi.stubEnv('FORMS_API_URL', api.baseUrl)
      vi.stubEnv('FORMS_API_KEY', 'fms_mine')
    }

    const words = wordsOf(example.replace(exampleKeyId, id))
    const { code, stderr } = await (words.includes('tail') ? runUntilInterrupted(words) : runFormctl(words))

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(api.received.length > 0).toBe(example.includes(exampleForm))
  })
})
