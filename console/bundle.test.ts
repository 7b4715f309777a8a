import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

/** Without the JSON editor, which is loaded when somebody shows it. */
const maxFirstLoadBytes = 150_000

let folder: string
let page: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'console-'))
  const root = import.meta.dirname
  await build({ root, logLevel: 'error', build: { outDir: folder, emptyOutDir: true } })
  page = readFileSync(join(folder, 'index.html'), 'utf8')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The files that the page names, and those that they import statically. */
const firstLoad = (): string[] => {
  const names = new Set([...page.matchAll(/(?:src|href)="console\/([^"]+)"/g)].map(([, name]) => name!))
  for (const name of names) {
    if (!name.endsWith('.js')) continue
    const imported = read(name).matchAll(/(?:\bfrom|\bimport)\s*["']\.\/([^"']+)["']/g)
    for (const [, file] of imported) names.add(`assets/${file}`)
  }
  return [...names]
}
const read = (name: string): string => readFileSync(join(folder, name), 'utf8')

describe('the built console', () => {
  it('needs at most 150 KB, compressed, for its first page', () => {
    const files = firstLoad()
    const bytes = files.reduce((sum, name) => sum + gzipSync(read(name)).length, gzipSync(page).length)

    expect(files.filter((name) => name.endsWith('.js')).length).toBeGreaterThan(0)
    expect(files.filter((name) => name.includes('json-editor'))).toEqual([])
    expect(bytes).toBeLessThan(maxFirstLoadBytes)
  })

  it('has names with a hash, and nothing in the page that the content security policy rejects', () => {
    const files = firstLoad()

    expect(files.filter((name) => !/^assets\/[\w-]+-[\w-]{8}\.\w+$/.test(name))).toEqual([])
    expect(page).not.toMatch(/<style|style="|<script(?![^>]* src=)|https?:\/\//)
  })
})
