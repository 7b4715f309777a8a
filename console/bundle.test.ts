import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

/** The pages, where their files are, and the most that the first load of each takes. */
const pages = [
  // Without the JSON editor, which is loaded when somebody shows it.
  ['index.html', 'console/', 150_000],
  // Respondents load it on phones.
  ['form.html', '', 30_000],
] as const

let folder: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'console-'))
  const root = import.meta.dirname
  await build({ root, logLevel: 'error', build: { outDir: folder, emptyOutDir: true } })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const read = (name: string): string => readFileSync(join(folder, name), 'utf8')

/** The files that a page names, and those that they import statically. */
const firstLoad = (page: string, prefix: string): string[] => {
  const named = [...read(page).matchAll(/(?:src|href)="([^"]+)"/g)].map(([, name]) => name!)
  expect(named.filter((name) => !name.startsWith(`${prefix}assets/`))).toEqual([])
  const names = new Set(named.map((name) => name.slice(prefix.length)))
  for (const name of names) {
    if (!name.endsWith('.js')) continue
    const imported = read(name).matchAll(/(?:\bfrom|\bimport)\s*["']\.\/([^"']+)["']/g)
    for (const [, file] of imported) names.add(`assets/${file}`)
  }
  return [...names]
}

describe.each(pages)('the built page %s', (page, prefix, maxBytes) => {
  it(`needs at most ${maxBytes / 1000} KB, compressed, for its first load`, () => {
    const files = firstLoad(page, prefix)
    const bytes = files.reduce((sum, name) => sum + gzipSync(read(name)).length, gzipSync(read(page)).length)

    expect(files.filter((name) => name.endsWith('.js')).length).toBeGreaterThan(0)
    expect(files.filter((name) => name.includes('json-editor'))).toEqual([])
    expect(bytes).toBeLessThan(maxBytes)
  })

  it('has names with a hash, and nothing in the page that the content security policy rejects', () => {
    const files = firstLoad(page, prefix)

    expect(files.filter((name) => !/^assets\/[\w-]+-[\w-]{8}\.\w+$/.test(name))).toEqual([])
    expect(read(page)).not.toMatch(/<style|style="|<script(?![^>]* src=)|https?:\/\//)
  })
})
