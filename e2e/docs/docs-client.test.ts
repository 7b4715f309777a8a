import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { createClient } from '../../libs/client/src/index.ts'
import { sharedSystem } from '../shared-system.ts'

const root = join(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'libs/client/README.md'), 'utf8')

const system = await sharedSystem()
const folder = mkdtempSync(join(tmpdir(), 'docs-client-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** The examples as one program that uses this system and these sources. */
const program = ({ slug, sources }: { slug: string; sources: string }) =>
  [...page.matchAll(/^```ts\n(.*?)^```$/gms)]
    .map(([, block]) => block)
    .join('\n')
    .replaceAll("'http://127.0.0.1:8080/v2'", `'${system.baseUrl}'`)
    .replace("organization = 'demo'", `organization = '${slug}'`)
    .replace("'@fms/client'", `'${sources}'`)

it('libs/client/README.md lists every method of the client', () => {
  for (const [name, group] of Object.entries(createClient({ baseUrl: system.baseUrl, apiKey: 'fms_test' }))) {
    const [row] = new RegExp(`^\\| \`client\\.${name}.*$`, 'm').exec(page) ?? []
    expect(row, name).toBeDefined()
    for (const method of Object.keys(group)) expect(row).toContain(`\`${method}\``)
  }
})

describe('the examples of libs/client/README.md', () => {
  it('print the output in their comments', async () => {
    const { slug, apiKey } = await system.account()
    const file = join(folder, 'examples.mts')
    const sources = pathToFileURL(join(root, 'libs/client/src/index.ts')).href
    writeFileSync(file, program({ slug, sources }))

    const printed = execFileSync(process.execPath, [file], {
      env: { ...process.env, API_KEY: apiKey },
      encoding: 'utf8',
    })

    const documented = [...page.matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)].map(([, text]) => text)
    expect(printed.trimEnd().split('\n')).toEqual(documented)
  })

  it('compile with the library of Node 20', () => {
    const sources = join(root, 'libs/client/src/index.ts')
    writeFileSync(join(folder, 'compiled.mts'), program({ slug: 'demo', sources }))
    const compilerOptions = { lib: ['es2023', 'dom'], typeRoots: [join(root, 'node_modules/@types')] }
    const config = { extends: join(root, 'tsconfig.json'), compilerOptions, include: ['compiled.mts'] }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))

    execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder], { stdio: 'inherit' })
  })
})
