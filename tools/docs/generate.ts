import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { apiReasons } from '@fms/contracts'
import { tables } from './tables.ts'

const root = join(import.meta.dirname, '../..')

/** A table between its marker and the next one, in Markdown. */
const marked = /(<!-- table: ([^-]+) -->\n).*?(?=<!-- end of table -->)/gs

const withTables = (page: string): string =>
  page.replace(marked, (_, marker: string, name: string) => `${marker}\n${markdownOf(name)}\n`)

const markdownOf = (name: string): string => {
  const [head, ...rows] = tables[name]!()
  return [head!, head!.map(() => '---'), ...rows].map((cells) => `${lineOf(cells)}\n`).join('')
}

const lineOf = (cells: readonly string[]): string =>
  cells[0] === '---'
    ? `|${cells.join('|')}|`
    : `|${cells.map((cell) => (cell ? ` ${cell} ` : ' ')).join('|')}|`

const knownReasons = `// Generated from libs/contracts by npm run generate.

/** All reasons of this release of the API. \`docs/errors.md\` describes them. */
export const knownReasons = [
${apiReasons.map((name) => `  '${name}',\n`).join('')}] as const
`

/** The files that follow from the contracts, by their paths in the repository. */
export const generatedFiles = (): [path: string, text: string][] => [
  ['libs/client/src/known-reasons.ts', knownReasons],
  ...globSync('docs/*.md', { cwd: root })
    .map((path): [string, string] => [path, readFileSync(join(root, path), 'utf8')])
    .filter(([, page]) => page.search(marked) >= 0)
    .map(([path, page]): [string, string] => [path, withTables(page)]),
]

if (import.meta.main) for (const [path, text] of generatedFiles()) writeFileSync(join(root, path), text)
