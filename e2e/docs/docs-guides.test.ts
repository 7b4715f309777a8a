import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sharedSystem } from '../shared-system.ts'
import { pagesOfCommands, runCommands } from './guide-commands.ts'

const root = join(import.meta.dirname, '../..')

const system = await sharedSystem()

/** Lines of the output, as patterns, and their first group wherever they match, in the order of the output. */
const expectedOutputs: Record<string, [line: RegExp, groups: string[]][]> = {
  'guides/follow-changes.md': [
    /^"type":"form\.(\w+)"$/gm,
    /^event: form\.(\w+)$/gm,
    /^watched \d form\.(\w+) Short life$/gm,
    /^received \d form\.(\w+) Short life$/gm,
  ].map((line) => [line, ['created', 'published', 'deleted']]),
  'tutorial.md': [
    [/"breaking":"(\w+)"/g, ['STEP_REMOVED']],
    [/"number":3,.*?"note":"([^"]*)"/g, ['As before the mistake']],
    [/"field":"form\.name",[^}]*"after":"(.*?)"/g, ['Costumer feedback']],
    [
      /^(Published|Unpublished|Rolled back) the form \w+ "C\w+ feedback"\.$/gm,
      ['Published', 'Unpublished', 'Rolled back', 'Published'],
    ],
    [/^Restored the form \w+ "(.*)"\.$/gm, ['Customer feedback']],
    [/^mistake: (.*)$/gm, ['STEP_REMOVED form.steps[1]']],
    [/^restored: (.*)$/gm, ['Opening hours 3 true']],
  ],
}

/** The statuses other than 200 that the commands of a page get, in their order. */
const expectedFailures: Record<string, string[]> = {
  'tutorial.md': ['400', '400', '404'],
  'guides/safe-edits.md': ['412', '304'],
  'guides/show-a-form.md': ['304'],
}

describe.each(pagesOfCommands)('the commands of docs/%s', (name) => {
  it('work when pasted one after another after npm start', async () => {
    const account = await system.account({ role: 'owner' })

    const { stdout, statuses } = await runCommands(name, system, account)

    expect(statuses.filter((status) => status !== '200')).toEqual(expectedFailures[name] ?? [])
    for (const [line, groups] of expectedOutputs[name] ?? []) {
      expect([...stdout.matchAll(line)].map(([, group]) => group)).toEqual(groups)
    }
  })
})

describe('every page', () => {
  const folders = ['bench', 'docs', 'libs', 'tools']
  const all = globSync(['*.md', ...folders.map((folder) => `${folder}/**/*.md`)], {
    cwd: root,
    exclude: ['**/node_modules', '**/dist'],
  })

  it.each(all)('%s has links to files and headings that are there', (name) => {
    const links = [...proseOf(name).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link]) => link!)

    expect(links.filter((link) => !leadsSomewhere(name, link))).toEqual([])
  })
})

/** A page without its blocks of code. */
const proseOf = (name: string) => readFileSync(join(root, name), 'utf8').replace(/^ *```.*?^ *```$/gms, '')

const leadsSomewhere = (page: string, link: string): boolean => {
  const [path, anchor] = link.split('#')
  const target = path ? join(dirname(page), path) : page
  if (!existsSync(join(root, target))) return false
  return !anchor || !target.endsWith('.md') || anchorsOf(target).includes(anchor)
}

/** The anchors of headings, as GitHub makes them. */
const anchorsOf = (name: string) =>
  [...proseOf(name).matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
      .replaceAll(' ', '-'),
  )
