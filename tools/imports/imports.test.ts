import { globSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')

/**
 * Our packages that the sources of each folder may import, by name (`@fms/aip`). Files import other files of their own
 * folder by relative path. The longest matching folder applies to a file.
 */
const allowed: Record<string, string[]> = {
  'libs/contracts': [],
  'libs/aip/src/filter': [],
  'libs/aip': ['contracts'],
  'libs/client': [],
  'libs/scheduling': ['aip'],
  'libs/testkit': ['contracts', 'store-kit'],
  'libs/service-kit': ['contracts', 'aip', 'scheduling'],
  'libs/store-kit': ['aip', 'scheduling'],
  'libs/drafts': ['contracts', 'aip'],
  'libs/forms-store': ['contracts', 'aip', 'scheduling', 'store-kit'],
  'libs/directory-store': ['contracts', 'aip', 'store-kit'],
  'services/gateway': ['contracts', 'aip', 'scheduling', 'service-kit'],
  'services/organizations': ['contracts', 'aip', 'service-kit', 'directory-store'],
  'services/forms': ['contracts', 'aip', 'scheduling', 'drafts', 'service-kit', 'forms-store'],
  'services/publisher': ['contracts', 'aip', 'scheduling', 'drafts', 'service-kit', 'forms-store'],
  formctl: ['contracts', 'aip', 'client', 'service-kit', 'store-kit', 'forms-store', 'directory-store'],
  'console/src': ['client', 'contracts/steps'],
  console: ['contracts'],
}

/** Further packages for tests, besides `@fms/testkit`, which all tests may import. */
const allowedInTests: Record<string, string[]> = {
  'libs/client': ['contracts'],
  'libs/testkit': ['service-kit'],
}

const folderOf = (file: string): string | undefined =>
  Object.keys(allowed)
    .filter((folder) => file.startsWith(`${folder}/`))
    .sort((a, b) => b.length - a.length)[0]

/** Tests, contract suites, and helpers in `testing.ts`, `testing/` and `contract/`. */
const isTestFile = (file: string): boolean =>
  /\.(test|contract|arbitrary|browser)\.ts$|\/testing\.ts$|\/(testing|contract)\//.test(file)

/** Files outside of a folder that its sources may import by path. */
const allowedFiles: Record<string, string[]> = {
  // doctor checks the environment as npm start does.
  formctl: ['/scripts/start-config.ts'],
}

/** The imports of `file` that the table does not allow. */
const forbiddenImports = (file: string, source: string): string[] => {
  const folder = folderOf(file)
  if (folder === undefined) return []
  const forTests = isTestFile(file) ? ['testkit', ...(allowedInTests[folder] ?? [])] : []
  const packages = [...allowed[folder]!, ...forTests]
  const isWithin = (path: string) => path.startsWith(`/${folder}/`) || allowedFiles[folder]?.includes(path)
  const isForbidden = (specifier: string) =>
    specifier.startsWith('.')
      ? !isWithin(resolve('/', dirname(file), specifier))
      : specifier.startsWith('@fms/') &&
        !packages.some((name) => specifier === `@fms/${name}` || specifier.startsWith(`@fms/${name}/`))
  return importsOf(source).filter(isForbidden)
}

const importsOf = (source: string): string[] =>
  [...source.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g)].map(([, specifier]) => specifier!)

describe('imports', () => {
  it('follow the table in every source', () => {
    const files = globSync('{libs,services,formctl,console}/**/*.{ts,tsx}', { cwd: root })
    const sources = files.filter((file) => !/node_modules|\/dist\//.test(file))
    expect(sources.length).toBeGreaterThan(300)

    const forbidden = sources.flatMap((file) => {
      const source = readFileSync(join(root, file), 'utf8')
      return forbiddenImports(file, source).map((specifier) => `${file}: ${specifier}`)
    })

    expect(forbidden).toEqual([])
  })

  it('have a row in the table for every package', () => {
    const packages = globSync('{libs/*,services/*,formctl,console}/package.json', { cwd: root }).map(dirname)

    expect(packages.filter((folder) => !Object.hasOwn(allowed, folder))).toEqual([])
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
    ['formctl/src/formctl.ts', '../../scripts/start.ts'],
    ['console/src/app.tsx', '@fms/contracts'],
  ])('of %s may not include %s', (file, specifier) => {
    expect(forbiddenImports(file, `import { thing } from '${specifier}'`)).toEqual([specifier])
    expect(forbiddenImports(file, `const { thing } = await import('${specifier}')`)).toEqual([specifier])
  })

  it.each([
    ['services/forms/src/routes/get-form.ts', '@fms/forms-store'],
    ['libs/client/src/resources.test.ts', '@fms/contracts'],
    ['libs/aip/src/filter/parse-filter.ts', './expression-error.ts'],
    ['services/publisher/src/testing.ts', '@fms/testkit/nats-server'],
  ])('of %s may include %s', (file, specifier) => {
    expect(forbiddenImports(file, `import { thing } from '${specifier}'`)).toEqual([])
  })
})
