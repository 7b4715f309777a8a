import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')

describe('docs/operations.md', () => {
  const schemas = [...globSync('services/*/src/config.ts', { cwd: root }), 'libs/service-kit/src/config.ts']

  it.each([...schemas, 'scripts/start-config.ts', 'scripts/demo.ts'])(
    'names every variable of %s',
    (file) => {
      const variables = [...read(file).matchAll(/^ +([A-Z][A-Z_]+): /gm)].map(([, name]) => name!)
      const named = new Set(
        [...read('docs/operations.md').matchAll(/`([A-Z][A-Z_]+)`/g)].map(([, name]) => name),
      )

      expect(variables).not.toEqual([])
      expect(variables.filter((name) => !named.has(name))).toEqual([])
    },
  )

  it('names every variable of .env.example', () => {
    const variables = [...read('.env.example').matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name!)

    expect(variables.filter((name) => !read('docs/operations.md').includes(`\`${name}\``))).toEqual([])
  })
})

describe('SECURITY.md', () => {
  it('names tests that are there', () => {
    const page = read('SECURITY.md')
    const tests = [...page.matchAll(/`((?:e2e|libs|services|scripts|tools)\/[^`]+)`/g)].map(
      ([, file]) => file!,
    )

    expect(tests.length).toBeGreaterThan(10)
    expect(tests.filter((file) => !existsSync(join(root, file)))).toEqual([])
  })
})
