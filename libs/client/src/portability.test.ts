import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const folder = join(import.meta.dirname, '..')
const files = globSync('src/**/*.ts', { cwd: folder }).filter(
  (file) => !/\.test\.ts$|testing\.ts$/.test(file),
)

describe('the client runs wherever there is fetch, so that it', () => {
  it.each(files)('imports nothing but itself, types included: %s', (file) => {
    const code = readFileSync(join(folder, file), 'utf8')

    const imported = [...code.matchAll(/\bfrom\s*'([^']+)'|\bimport\s*\(?\s*'([^']+)'/g)].map(
      ([, a, b]) => a ?? b,
    )
    expect(imported.filter((from) => !from!.startsWith('./'))).toEqual([])
  })

  it('compiles with the globals of a browser alone', () => {
    execFileSync(join(folder, '../../node_modules/.bin/tsc'), ['-p', folder], { stdio: 'inherit' })
  })
})
