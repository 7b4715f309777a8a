import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { runFormctl } from '../testing/run-formctl.ts'
import { withStoreName } from './open-stores.ts'

let folder: string

const useDataDir = (name: string) => vi.stubEnv('DATA_DIR', join(folder, name))

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'formctl-'))
  for (const name of ['DIRECTORY_STORE_URL', 'FORMS_STORE_URL', 'FORMS_API_URL']) vi.stubEnv(name, '')
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

describe('a DATA_DIR without stores', () => {
  it.each([
    ['user list'],
    ['user create --email ada@example.com'],
    ['key list'],
    ['organization list'],
    ['forms export'],
    ['revisions prune --keep 1'],
    [`backup FOLDER`],
    [`backup FOLDER --keep 2`],
  ])('fails formctl %s, which creates nothing', async (line) => {
    useDataDir('wrong')

    const words = line.split(' ').map((word) => (word === 'FOLDER' ? join(folder, 'backup') : word))
    const { code, stderr } = await runFormctl(words)

    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /^error: There is no (directory|forms) store at .*\/wrong\/(directory|forms)\.db\. Check (DIRECTORY|FORMS)_STORE_URL, or DATA_DIR if it is not set\./,
      ),
    })
    expect(readdirSync(folder)).toEqual([])
  })

  it.each([
    ['beside the stores', 'data', 'wrong'],
    ['above the stores', 'clone/.data', 'clone'],
    ['below the stores', 'data', 'data/wrong'],
  ])('that is %s leads to them', async (_, stores, wrong) => {
    useDataDir(stores)
    expect((await runFormctl(['migrate'])).code).toBe(0)
    mkdirSync(join(folder, wrong), { recursive: true })
    useDataDir(wrong)

    const { stderr } = await runFormctl(['user', 'list'])

    expect(stderr).toContain(`There are stores in ${join(folder, stores)}`)
    expect((await runFormctl(['doctor'])).stdout).toMatch(
      new RegExp(
        `forms store .*at ${join(folder, wrong)}/forms.db\n.*There are stores in ${join(folder, stores)}`,
      ),
    )
  })

  it.each(['/proc/nope', '/dev/null'])('that cannot be created is named: %s', async (path) => {
    vi.stubEnv('DATA_DIR', path)

    const { code, stderr } = await runFormctl(['migrate'])

    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /^error: The directory store at .* cannot be created or opened \(.*\)\. Check DIRECTORY_STORE_URL, or DATA_DIR/,
      ),
    })
  })

  it('is not named for an error at another file, such as that of an export', async () => {
    const store = { name: 'forms', url: `sqlite:${join(folder, 'forms.db')}`, setting: 'DATA_DIR' } as const
    const error = Object.assign(new Error('ENOSPC: no space left on device, write'), { syscall: 'write' })

    await expect(withStoreName(store, () => Promise.reject(error))).rejects.toBe(error)
  })

  it('is filled by migrate', async () => {
    useDataDir('new')
    expect((await runFormctl(['migrate'])).code).toBe(0)

    expect((await runFormctl(['user', 'list'])).code).toBe(0)
  })
})
