import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openFormsStore } from '@fms/forms-store'
import { startMongo } from '@fms/testkit/mongodb'
import { migrateBeyondThisRelease } from '@fms/testkit/newer-schema'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { run } from '../run.ts'

const mongo = await startMongo()
const dataDir = mkdtempSync(join(tmpdir(), 'formctl-migrate-'))
afterAll(async () => {
  rmSync(dataDir, { recursive: true })
  await mongo[Symbol.asyncDispose]()
})

let stdout: string
let stderr: string

beforeEach(() => {
  stdout = ''
  stderr = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    stdout += text
    return true
  })
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    stderr += text
    return true
  })
})

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
})

const givenStores = (directory: string, forms: string) => {
  vi.stubEnv('DATA_DIR', dataDir)
  vi.stubEnv('DIRECTORY_STORE_URL', directory)
  vi.stubEnv('FORMS_STORE_URL', forms)
}

describe('formctl migrate', () => {
  it('migrates both stores on MongoDB, and can be repeated', async () => {
    givenStores(mongo.url, mongo.url)
    await using forms = await openFormsStore(mongo.url)
    expect(await run(['user', 'create', '--email', 'ada@example.com'])).toBe(1)
    expect(stderr).toMatch(/^error: .*Run formctl migrate.*\n$/)
    await expect(forms.ping()).rejects.toMatchObject({ reason: 'STORE_NOT_MIGRATED' })

    for (let times = 0; times < 2; times++) {
      stdout = ''
      expect(await run(['migrate', '--json'])).toBe(0)
      expect(JSON.parse(stdout)).toEqual({
        directory: { engine: 'MongoDB', version: 1 },
        forms: { engine: 'MongoDB', version: 1 },
      })
    }

    await forms.ping()
    expect(await run(['user', 'create', '--email', 'ada@example.com'])).toBe(0)
  })

  it('prints its steps on stderr, but not with --json', async () => {
    givenStores(mongo.url, mongo.url)

    expect(await run(['migrate'])).toBe(0)

    expect(stderr).toMatch(/^The directory store, step 1 of \d+: excluding earlier releases$/m)
    expect(stderr).toMatch(/^The forms store, step \d+ of \d+: index forms_by_name$/m)
    stderr = ''
    expect(await run(['migrate', '--json'])).toBe(0)
    expect(stderr).toBe('')
  })

  it('creates SQLite files in DATA_DIR by default', async () => {
    givenStores('', '')

    expect(await run(['migrate'])).toBe(0)

    expect(stdout).toBe(
      'The directory store on SQLite has version 1 of its schema.\nThe forms store on SQLite has version 1 of its schema.\n',
    )
  })

  it.each([
    ['SQLite', `sqlite:${join(dataDir, 'newer.db')}`],
    ['MongoDB', mongo.url.replace(/\/[^/?]*(\?|$)/, '/newer$1')],
  ])('rejects stores on %s that a newer release has migrated, like every command', async (_, url) => {
    givenStores(url, `sqlite:${join(dataDir, `${randomUUID()}.db`)}`)
    expect(await run(['migrate'])).toBe(0)
    await migrateBeyondThisRelease(url, 'directory')

    for (const command of [['migrate'], ['user', 'create', '--email', 'ada@example.com']]) {
      stderr = ''
      expect(await run(command)).toBe(1)
      expect(stderr).toMatch(/^error: The \S+ store has version 999 .*Upgrade this service, or restore/m)
    }
  })

  it('rejects an unsupported URL without printing its credentials', async () => {
    givenStores(`sqlite:${join(dataDir, randomUUID())}`, 'nonsense://user:secret@host')

    expect(await run(['migrate'])).toBe(1)

    expect(stderr).toMatch(/^error: No forms store for "nonsense:" URLs\./)
    expect(stderr).not.toContain('secret')
  })
})
