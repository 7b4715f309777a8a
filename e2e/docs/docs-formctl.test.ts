import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { processTerminal } from '../../formctl/src/cli/terminal.ts'
import { createProgram } from '../../formctl/src/run.ts'

const root = join(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/formctl.md'), 'utf8')

/** The blocks of shell commands, each with the heading above it. The first one defines the function `formctl`. */
const [definition, ...blocks] = [...page.matchAll(/^```(sh|bash)\n(.*?)^```$/gms)].map(
  ({ 1: shell, 2: script, index }) => ({
    shell: shell!,
    heading: [...page.slice(0, index).matchAll(/^#+ (.*)$/gm)].at(-1)![1]!,
    script: script!,
  }),
)

let folder: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'docs-formctl-'))
  await runBlock('formctl migrate')
})
afterAll(() => rmSync(folder, { recursive: true }))

/** The same function without npm, which is slow. */
const formctl = `formctl() { node ${join(root, 'formctl/src/formctl.ts')} "$@"; }`

const runBlock = async (script: string, { shell = 'sh', before = formctl, cwd = folder } = {}) => {
  const whole = `${before}\n${script}`
  const { stdout } = await promisify(execFile)(shell, ['-euc', whole], {
    cwd,
    env: {
      PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      DATA_DIR: join(folder, '.data'),
    },
  })
  return stdout
}

describe('the commands of docs/formctl.md', () => {
  it('begin with a function that runs formctl', async () => {
    const users = await runBlock('formctl user list', { before: definition!.script, cwd: root })

    expect(JSON.parse(users)).toEqual({ users: [] })
  })

  it('work when pasted, one after another', async () => {
    const outputs = new Map<string, string>()
    for (const { heading, script, shell } of blocks) outputs.set(heading, await runBlock(script, { shell }))

    const outputOf = (heading: string) => outputs.get(heading)!
    expect(outputOf('People and organizations')).toContain('"slug":"compilers"')
    expect(outputOf('Members')).toContain('grace@example.com is no longer a member of compilers.')
    expect(outputOf('Keys')).toMatch(/^fms_[A-Za-z0-9_-]{43}$/m)
    expect(outputOf('Replace a key without downtime')).toMatch(/^The old key .* works until .*\.$/m)
    expect(outputOf('Replace a key without downtime')).toMatch(/^Revoked the API key .*\.$/m)
    expect(outputOf('Check the installation')).toMatch(/^ok {4}forms store/m)
  })
})

describe('docs/formctl.md', () => {
  const leaves = leavesOf(createProgram(processTerminal()))

  it.each(leaves.map(({ path, command }) => [path, command] as const))(
    'documents %s, whose help explains its options',
    (path, { options }) => {
      expect(page.includes(`\`${path}`) || page.includes(`\`formctl ${path}`)).toBe(true)
      expect(options.filter(({ description }) => !description)).toEqual([])
    },
  )

  it('shows the output of doctor', async () => {
    const [, example] = /^```text\n(ok {4}versions.*?)^```$/ms.exec(page)!
    const names = [...example!.matchAll(/^(?:ok|warn|fail) +(\S+(?: \S+)*)/gm)].map(([, name]) => name)

    const report = await runBlock('formctl doctor')
    const printed = [...report.matchAll(/^(?:ok|warn|fail) +(\S+(?: \S+)*)/gm)].map(([, name]) => name)
    expect(names).toEqual(expect.arrayContaining(printed))
  })
})

/** Every command without subcommands. */
function leavesOf(command: Command, path: string[] = []): { path: string; command: Command }[] {
  if (command.commands.length > 0) {
    return command.commands.flatMap((each) => leavesOf(each, [...path, each.name()]))
  }
  return [{ path: path.join(' '), command }]
}
