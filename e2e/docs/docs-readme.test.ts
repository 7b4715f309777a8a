import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { sharedSystem } from '../shared-system.ts'

const root = join(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'README.md'), 'utf8')

/** The blocks of shell commands. The first one starts and tests the system and is not run. */
const [commands, ...blocks] = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, script]) => script!)

const system = await sharedSystem()
const folder = mkdtempSync(join(tmpdir(), 'docs-readme-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('the commands of README.md', () => {
  it('are scripts of package.json', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const named = [...page.matchAll(/npm run (?:-s )?(\w+)|npm (start|test)/g)].map(
      ([, run, word]) => run ?? word,
    )

    expect(commands).toContain('npm start')
    for (const name of named) expect(scripts).toHaveProperty(name!)
  })

  it('work when pasted one after another after npm start', async () => {
    const account = await system.account()
    mkdirSync(join(folder, '.data'))
    writeFileSync(join(folder, '.data/demo-api-key'), account.apiKey)
    const script = blocks
      .join('\necho; echo ----\n')
      .replaceAll('http://127.0.0.1:8080/v2', system.baseUrl)
      .replaceAll('/organizations/demo/', `/organizations/${account.slug}/`)
      .replaceAll('npm run -s formctl --', `node ${join(root, 'formctl/src/formctl.ts')}`)

    const { stdout } = await promisify(execFile)('sh', ['-euc', script], {
      cwd: folder,
      env: {
        PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        DIRECTORY_STORE_URL: system.directoryStoreUrl,
      },
    })

    const [, create, patch, publish, mistake, people] = stdout.split('\n----\n')
    expect(create!.trim()).toMatch(/^[A-Za-z0-9]{10}$/)
    expect(JSON.parse(patch!)).toMatchObject({ name: 'How was it?', live: false })
    expect(publish).toContain('"live":true')
    expect(publish).toContain('"alternateIds":["live"]')
    expect(publish).toContain('"totalSize":1')
    expect(JSON.parse(mistake!).error.details[1].fieldViolations[0].field).toBe('form.nmae')
    expect(people).toMatch(/fms_[A-Za-z0-9_-]{43}/)
  })
})
