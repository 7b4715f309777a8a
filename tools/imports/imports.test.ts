import { globSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')

/** Which of our packages each folder may import; its own files by relative paths, those of others by name alone. */
const allowed: Record<string, string[]> = {
  'libs/contracts': [],
  'libs/aip/src/filter': [],
  'libs/aip': ['contracts'],
  'libs/client': [],
  'libs/testkit': ['contracts', 'store-kit'],
  'libs/service-kit': ['contracts', 'aip'],
  'libs/store-kit': ['contracts', 'aip'],
  'libs/forms-store': ['contracts', 'aip', 'store-kit'],
  'libs/directory-store': ['contracts', 'aip', 'store-kit'],
  'services/gateway': ['contracts', 'aip', 'service-kit'],
  'services/organizations': ['contracts', 'aip', 'service-kit', 'directory-store'],
  'services/forms': ['contracts', 'aip', 'service-kit', 'forms-store'],
  'services/publisher': ['contracts', 'aip', 'service-kit', 'forms-store'],
  formctl: ['contracts', 'aip', 'service-kit', 'store-kit', 'forms-store', 'directory-store'],
}

/** What tests may import as well. */
const allowedInTests: Record<string, string[]> = {
  'libs/client': ['contracts'],
  'libs/testkit': ['service-kit'],
}

/** Every import of `file` that the table does not allow. */
const forbiddenImports = (file: string, source: string): string[] => {
  const folder = Object.keys(allowed).find((each) => file.startsWith(`${each}/`))
  if (!folder) return []
  const isForTests = /\.(test|contract|arbitrary|browser)\.ts$|\/(testing|contract)(\.ts$|\/)/.test(file)
  const packages = [
    ...allowed[folder]!,
    ...(isForTests ? ['testkit', ...(allowedInTests[folder] ?? [])] : []),
  ]
  return importsOf(source).filter((specifier) =>
    specifier.startsWith('.')
      ? !resolve('/', dirname(file), specifier).startsWith(`/${folder}/`)
      : specifier.startsWith('@fms/') && !packages.includes(specifier.split('/')[1]!),
  )
}

const importsOf = (source: string): string[] =>
  [...source.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g)].map(([, specifier]) => specifier!)

describe('imports', () => {
  it('follow the table in every source', () => {
    const files = Object.keys(allowed).flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: root }))
    const sources = files.filter((file) => !/node_modules|\/dist\//.test(file))
    expect(sources.length).toBeGreaterThan(300)

    const forbidden = sources.flatMap((file) =>
      forbiddenImports(file, readFileSync(join(root, file), 'utf8')).map(
        (specifier) => `${file}: ${specifier}`,
      ),
    )

    expect(forbidden).toEqual([])
  })

  it.each([
    ['libs/contracts/src/form.ts', '@fms/aip'],
    ['libs/aip/src/filter/parse-filter.ts', '../errors.ts'],
    ['libs/client/src/forms.ts', '@fms/contracts'],
    ['libs/forms-store/src/forms-store.ts', '@fms/service-kit'],
    ['libs/service-kit/src/run.ts', '@fms/testkit/ports'],
    ['services/gateway/src/app.ts', '@fms/forms-store'],
    ['services/gateway/src/app.ts', '../../forms/src/app.ts'],
    ['services/forms/src/routes/get-form.ts', '@fms/publisher'],
    ['formctl/src/formctl.ts', '@fms/organizations'],
  ])('%s may not import %s', (file, specifier) => {
    expect(forbiddenImports(file, `import { thing } from '${specifier}'`)).toEqual([specifier])
    expect(forbiddenImports(file, `const { thing } = await import('${specifier}')`)).toEqual([specifier])
  })

  it.each([
    ['services/forms/src/routes/get-form.ts', '@fms/forms-store'],
    ['libs/client/src/resources/resources.test.ts', '@fms/contracts'],
    ['libs/aip/src/filter/parse-filter.ts', './filter-error.ts'],
    ['services/publisher/src/testing.ts', '@fms/testkit/nats-server'],
  ])('%s may import %s', (file, specifier) => {
    expect(forbiddenImports(file, `import { thing } from '${specifier}'`)).toEqual([])
  })
})
