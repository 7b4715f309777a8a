import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { apiReasons } from '@fms/contracts'
import peggy from 'peggy'
import { stringify } from 'yaml'
import { buildAsyncApi } from './asyncapi/build-asyncapi.ts'
import { clientTypes } from './client-types/client-types.ts'
import { tables } from './docs/tables.ts'

const root = join(import.meta.dirname, '..')

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

const asyncApi = () =>
  `# Generated from libs/contracts by npm run generate.\n${stringify(buildAsyncApi(), { aliasDuplicateObjects: false, lineWidth: 100 })}`

const filterFolder = 'libs/aip/src/filter'
export const filterParser = (grammar: string): string => {
  // Loads it: peggy itself takes any text for the code of an action, and this program could not start with a broken parser.
  peggy.generate(grammar)
  return peggy.generate(grammar, { output: 'source', format: 'es' })
}

const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** The files that follow from the contracts and the grammar of filters, by their paths in the repository. */
export const generatedFiles = async (): Promise<[path: string, text: string][]> => [
  [`${filterFolder}/grammar.generated.js`, filterParser(read(`${filterFolder}/grammar.peggy`))],
  ['docs/asyncapi.yaml', asyncApi()],
  ['libs/client/src/schemas.generated.ts', await clientTypes()],
  ['libs/client/src/known-reasons.ts', knownReasons],
  ...globSync('docs/*.md', { cwd: root })
    .map((path): [string, string] => [path, read(path)])
    .filter(([, page]) => page.search(marked) >= 0)
    .map(([path, page]): [string, string] => [path, withTables(page)]),
]

if (import.meta.main) for (const [path, text] of await generatedFiles()) writeFileSync(join(root, path), text)
