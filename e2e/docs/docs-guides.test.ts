import { execFile } from 'node:child_process'
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type System, startSystem } from '../system.ts'

const root = join(import.meta.dirname, '../..')
const docs = join(root, 'docs')
const pages = ['tutorial.md', ...readdirSync(join(docs, 'guides')).map((name) => `guides/${name}`)]

let system: System

beforeAll(async () => {
  system = await startSystem()
})
afterAll(() => system[Symbol.asyncDispose]())

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
    [/^restored: (.*)$/gm, ['Opening hours 2 true']],
  ],
}

/** The statuses other than 200 that the commands of a page get, in their order. */
const expectedFailures: Record<string, string[]> = {
  'tutorial.md': ['400', '400', '404'],
  'guides/safe-edits.md': ['412', '304'],
  'guides/show-a-form.md': ['304'],
}

describe.each(pages)('the commands of docs/%s', (name) => {
  const page = readFileSync(join(docs, name), 'utf8')
  const script = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block!).join('\n')

  it('work when pasted one after another after npm start', async () => {
    const account = await system.account({ role: 'owner' })
    const folder = mkdtempSync(join(tmpdir(), 'docs-guides-'))
    try {
      mkdirSync(join(folder, '.data'))
      writeFileSync(join(folder, '.data/demo-api-key'), account.apiKey)
      symlinkSync(join(system.dataDir, 'nats'), join(folder, '.data/nats'))
      installPackages(folder)
      const { stdout } = await promisify(execFile)('sh', ['-euc', localized(script, account.slug)], {
        cwd: folder,
        env: {
          PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
          DIRECTORY_STORE_URL: system.directoryStoreUrl,
          FORMS_STORE_URL: system.formsStoreUrl,
        },
      })

      const statuses = readFileSync(join(folder, 'statuses'), 'utf8').trim().split('\n')
      expect(statuses.filter((status) => status !== '200')).toEqual(expectedFailures[name] ?? [])
      for (const [line, groups] of expectedOutputs[name] ?? []) {
        expect([...stdout.matchAll(line)].map(([, group]) => group)).toEqual(groups)
      }
    } finally {
      rmSync(folder, { recursive: true })
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

/** The packages that programs of the guides import: our client from its sources, and the client of NATS. */
const installPackages = (folder: string) => {
  const packages = {
    '@fms/client': join(root, 'libs/client/src/index.ts'),
    '@nats-io/jetstream': fileURLToPath(import.meta.resolve('@nats-io/jetstream')),
    '@nats-io/transport-node': fileURLToPath(import.meta.resolve('nats')),
  }
  for (const [name, file] of Object.entries(packages)) {
    const installed = join(folder, 'node_modules', name)
    mkdirSync(installed, { recursive: true })
    writeFileSync(join(installed, 'index.mjs'), `export * from ${JSON.stringify(pathToFileURL(file).href)}`)
    writeFileSync(join(installed, 'package.json'), JSON.stringify({ name, exports: './index.mjs' }))
  }
}

/** The script with the addresses of this system. Each curl appends its status to a file. */
const localized = (script: string, slug: string) =>
  [
    `curl() { command curl --write-out '%{stderr}%{http_code}\\n' "$@" 2>>statuses; }`,
    script
      .replaceAll('http://127.0.0.1:8080/v2', system.baseUrl)
      .replaceAll('/organizations/demo', `/organizations/${slug}`)
      .replaceAll('--organization demo', `--organization ${slug}`)
      .replaceAll("'demo'", `'${slug}'`)
      .replaceAll('npm run -s formctl --', `node ${join(root, 'formctl/src/formctl.ts')}`)
      // Programs of this test import the sources of the client.
      .replaceAll('npm run build -w libs/client\n', ''),
  ].join('\n')
