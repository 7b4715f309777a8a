import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'

const folder = join(import.meta.dirname, '..')
const files = globSync('src/**/*.ts', { cwd: folder }).filter(
  (file) => !/\.test\.ts$|testing\.ts$/.test(file),
)

describe('the client, which runs on any platform with fetch,', () => {
  it.each(files)('imports only its own files, types included: %s', (file) => {
    const code = readFileSync(join(folder, file), 'utf8')

    const imported = [...code.matchAll(/\bfrom\s*'([^']+)'|\bimport\s*\(?\s*'([^']+)'/g)].map(
      ([, a, b]) => a ?? b,
    )
    const targets = imported.map((from) => (from!.startsWith('.') ? join(dirname(file), from!) : from!))
    expect(targets.filter((target) => !files.includes(target))).toEqual([])
  })

  it('compiles with the globals of a browser only', () => {
    execFileSync(join(folder, '../../node_modules/.bin/tsc'), ['-p', folder], { stdio: 'inherit' })
  })
})
