import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')

/** What the lint run says of a file in this place that imports this. */
const lint = (file: string, imported: string) => {
  const folder = mkdtempSync(join(tmpdir(), 'imports-'))
  try {
    const config = JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8'))
    writeFileSync(join(folder, 'biome.json'), JSON.stringify({ ...config, vcs: { enabled: false } }))
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), `import { thing } from '${imported}'\n\nexport const other = thing\n`)
    return spawnSync(join(root, 'node_modules/.bin/biome'), ['lint', file], { cwd: folder, encoding: 'utf8' })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe('imports point one way', () => {
  it.each([
    ['libs/contracts/src/form.ts', '@fms/aip'],
    ['libs/aip/src/errors.ts', '@fms/service-kit'],
    ['libs/aip/src/filter/parse-filter.ts', '../errors.ts'],
    ['libs/aip/src/filter/parse-filter.ts', '@fms/contracts'],
    ['libs/client/src/forms.ts', '@fms/aip'],
    ['libs/client/src/forms.ts', '../../contracts/src/form.ts'],
    ['libs/store-kit/src/sql.ts', '@fms/forms-store'],
    ['libs/forms-store/src/forms-store.ts', '@fms/service-kit'],
    ['libs/service-kit/src/run.ts', '@fms/directory-store'],
    ['libs/service-kit/src/run.ts', '@fms/forms'],
    ['services/gateway/src/app.ts', '@fms/forms-store'],
    ['services/gateway/src/app.ts', '../../forms/src/app.ts'],
    ['services/forms/src/routes/get-form.ts', '@fms/publisher'],
    ['services/forms/src/routes/get-form.ts', '../../../publisher/src/publish.ts'],
    ['services/organizations/src/app.ts', '@fms/forms-store'],
    ['formctl/src/formctl.ts', '@fms/organizations'],
    ['scripts/demo.ts', '@fms/client'],
  ])('%s may not import %s', (file, imported) => {
    const { status, stdout, stderr } = lint(file, imported)

    expect(stdout + stderr).toContain('noRestrictedImports')
    expect(status).not.toBe(0)
  })

  it.each([
    ['services/forms/src/routes/get-form.ts', '@fms/forms-store'],
    ['libs/forms-store/src/forms-store.ts', '@fms/contracts'],
    ['libs/aip/src/errors.ts', '@fms/contracts'],
    ['libs/client/src/resources/resources.test.ts', '@fms/contracts'],
    ['libs/aip/src/filter/parse-filter.ts', './filter-error.ts'],
  ])('%s may import %s', (file, imported) => {
    expect(lint(file, imported).stderr).not.toContain('noRestrictedImports')
  })
})
