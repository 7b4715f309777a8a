import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DirectoryStore, openDirectoryStore } from '@fms/directory-store'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { runFormctl } from '../testing/run-formctl.ts'

let dataDir: string
let directory: DirectoryStore

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'formctl-'))
  vi.stubEnv('DATA_DIR', dataDir)
  vi.stubEnv('DIRECTORY_STORE_URL', '')
  vi.stubEnv('FORMS_API_URL', '')
  directory = await openDirectoryStore(`sqlite:${join(dataDir, 'directory.db')}`)
})

afterEach(async () => {
  vi.unstubAllEnvs()
  await directory.close()
  rmSync(dataDir, { recursive: true })
})

const session = { name: 'Console', expireTime: new Date('2126-11-20T09:30:00Z') }

describe('formctl user login-link', () => {
  it('prints a link with a code that signs in once, for 15 minutes', async () => {
    const { userId } = await directory.createUser({ email: 'ada@example.com' })
    const before = Date.now()

    const { code: exitCode, stdout } = await runFormctl([
      'user',
      'login-link',
      '--user',
      'Ada@example.com',
      '--json',
    ])

    expect(exitCode).toBe(0)
    const { url, code, expireTime } = JSON.parse(stdout)
    expect(url).toBe(`http://127.0.0.1:8080/v2/console#code=${code}`)
    const lifetimeMs = Date.parse(expireTime) - before
    expect(lifetimeMs).toBeGreaterThanOrEqual(15 * 60_000)
    expect(lifetimeMs).toBeLessThan(16 * 60_000)
    expect((await directory.redeemLoginCode(code, session))?.apiKey).toMatchObject({ userId })
    expect(await directory.redeemLoginCode(code, session)).toBeUndefined()
  })

  it('takes the base URL from --url, or else from FORMS_API_URL', async () => {
    await directory.createUser({ email: 'ada@example.com' })
    vi.stubEnv('FORMS_API_URL', 'https://forms.example.com/v2')
    const link = ['user', 'login-link', '--user', 'ada@example.com']

    expect((await runFormctl(link)).stdout).toMatch(
      /^https:\/\/forms\.example\.com\/v2\/console#code=[\w-]{43}\nThe link signs in as ada@example\.com, once and until /,
    )
    expect((await runFormctl([...link, '--url', 'http://10.0.0.1/forms/v2/'])).stdout).toMatch(
      /^http:\/\/10\.0\.0\.1\/forms\/v2\/console#code=/,
    )
  })

  it('takes the base URL of the system that npm start last ran in DATA_DIR', async () => {
    await directory.createUser({ email: 'ada@example.com' })
    writeFileSync(join(dataDir, 'system.json'), JSON.stringify({ baseUrl: 'http://127.0.0.1:8090/v2' }))

    const { stdout } = await runFormctl(['user', 'login-link', '--user', 'ada@example.com'])

    expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:8090\/v2\/console#code=/)
  })

  it('names FORMS_API_URL if that is invalid', async () => {
    await directory.createUser({ email: 'ada@example.com' })
    vi.stubEnv('FORMS_API_URL', 'https://forms.example.com')

    const { code, stderr } = await runFormctl(['user', 'login-link', '--user', 'ada@example.com'])

    expect(code).toBe(1)
    expect(stderr).toContain('FORMS_API_URL is not valid')
  })

  it('rejects unknown and disabled users, and invalid URLs', async () => {
    await directory.createUser({ email: 'ada@example.com' })
    await directory.disableUser('ada@example.com')
    const link = (...args: string[]) => runFormctl(['user', 'login-link', ...args])

    expect(await link('--user', 'bob@example.com')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There is no user bob@example.com.'),
    })
    expect(await link('--user', 'ada@example.com')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('The user ada@example.com is disabled'),
    })
    for (const url of ['forms.example.com', 'ftp://x/v2', 'https://x/v2?a=1', 'https://x']) {
      expect((await link('--user', 'ada@example.com', '--url', url)).code).toBe(2)
    }
  })
})
