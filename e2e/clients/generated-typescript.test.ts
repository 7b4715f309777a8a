import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { environmentWithoutNpm, reportToolchain } from '@fms/testkit/machine/toolchains'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sharedSystem } from '../shared-system.ts'

const root = join(import.meta.dirname, '../..')
const tools = join(root, 'tools/generated-clients')
const folder = mkdtempSync(join(tmpdir(), 'generated-typescript-'))

/** Runs a program in the folder. @returns its stdout. */
const run = async (parameters: string[], env: NodeJS.ProcessEnv = {}) => {
  const options = { cwd: folder, env: { ...environmentWithoutNpm(), ...env } }
  return (await promisify(execFile)(process.execPath, parameters, options)).stdout
}

const system = await sharedSystem()

beforeAll(async () => {
  cpSync(join(tools, 'typescript'), folder, { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'openapi.json'), await (await fetch(`${system.baseUrl}/openapi.json`)).text())
  const generator = join(tools, 'node_modules/openapi-typescript/bin/cli.js')
  await run([generator, 'openapi.json', '--output', 'schema.ts'])
  reportToolchain(
    'Generated clients: openapi-typescript; npm run test:generated also runs the guides for Python and Go.',
  )
})
afterAll(() => rmSync(folder, { recursive: true }))

describe('types that openapi-typescript generates', () => {
  it.each([
    ['5', join(tools, 'package.json')],
    ['7', join(root, 'package.json')],
  ])('compile with TypeScript %s', async (_, manifest) => {
    const tsc = join(dirname(createRequire(manifest).resolve('typescript/package.json')), 'bin/tsc')
    const compilerOptions = {
      strict: true,
      module: 'nodenext',
      lib: ['esnext', 'dom'],
      types: ['node'],
      target: 'esnext',
      noEmit: true,
      allowImportingTsExtensions: true,
      // Those of others: the generated types are no declaration file.
      skipLibCheck: true,
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['life.ts'] }))
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')

    await run([tsc, '-p', folder])
  })

  it('run the lifecycle of a form', async () => {
    const account = await system.account()
    for (const name of ['Form 1', 'Form 2', 'Form 3']) {
      await system.call(account, 'POST', account.forms, { form: { name } })
    }

    const env = { BASE_URL: system.baseUrl, API_KEY: account.apiKey, ORGANIZATION: account.slug }
    expect(JSON.parse(await run(['life.ts'], env))).toEqual({
      buttonRadiusPx: 4.5,
      patched: 'Patched',
      stale: 412,
      live: true,
      names: ['Form 1', 'Form 2', 'Form 3', 'Generated'],
      deleted: 200,
    })
  })
})
