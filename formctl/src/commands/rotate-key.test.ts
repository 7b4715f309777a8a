import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DirectoryStore, hashSecret, openDirectoryStore } from '@fms/directory-store'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { runFormctl } from '../testing/run-formctl.ts'

const hourMs = 3_600_000

let dataDir: string
let directory: DirectoryStore

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'formctl-'))
  vi.stubEnv('DATA_DIR', dataDir)
  vi.stubEnv('DIRECTORY_STORE_URL', '')
  directory = await openDirectoryStore(`sqlite:${join(dataDir, 'directory.db')}`)
})

afterEach(async () => {
  vi.unstubAllEnvs()
  await directory.close()
  rmSync(dataDir, { recursive: true })
})

const givenKey = async (fields: { readOnly?: boolean; expireTime?: Date } = {}) => {
  const { userId } = await directory.createUser({ email: 'ada@example.com' })
  return directory.createKey({ userId, name: 'CI', ...fields })
}

const works = async (key: string, inMs = 0) =>
  (await directory.authorize({ keyHash: hashSecret(key) }, new Date(Date.now() + inMs))) !== undefined

describe('formctl key rotate', () => {
  it('creates a key like the old one, which works for another day', async () => {
    const old = await givenKey({ readOnly: true })

    const { code, stdout } = await runFormctl(['key', 'rotate', old.apiKey.keyId, '--json'])

    const { id, key, replaces } = JSON.parse(stdout)
    expect(code).toBe(0)
    const [first, second] = await directory.listKeys()
    expect(second).toMatchObject({ keyId: id, userId: first!.userId, name: 'CI', readOnly: true })
    expect(second!.expireTime).toBeUndefined()
    expect(replaces).toEqual({ id: old.apiKey.keyId, expireTime: first!.expireTime!.toISOString() })
    expect([await works(key), await works(old.key, 23.9 * hourMs)]).toEqual([true, true])
    expect(await works(old.key, 24 * hourMs)).toBe(false)
  })

  it.each([
    ['90s', 90_000],
    ['30m', 30 * 60_000],
    ['7d', 7 * 24 * hourMs],
  ])('lets both work for an overlap of %s', async (overlap, overlapMs) => {
    const { key, apiKey } = await givenKey()

    await runFormctl(['key', 'rotate', apiKey.keyId, '--overlap', overlap])

    expect([await works(key, overlapMs - 30_000), await works(key, overlapMs)]).toEqual([true, false])
  })

  it('revokes the old key immediately with an overlap of 0, after confirmation', async () => {
    const old = await givenKey()
    const rotate = ['key', 'rotate', old.apiKey.keyId, '--overlap', '0']

    const refused = await runFormctl(rotate, { typed: 'n' })
    expect(refused).toMatchObject({ code: 1, prompts: [expect.stringMatching(/^Revoke the old key fms_/)] })
    expect(await directory.listKeys()).toEqual([old.apiKey])

    const { stdout } = await runFormctl(rotate)
    const [key, ...remarks] = stdout.trimEnd().split('\n')
    expect(remarks).toEqual([
      expect.stringContaining('the only time'),
      `The old key ${old.apiKey.keyId} is revoked.`,
    ])
    expect([await works(key!), await works(old.key)]).toEqual([true, false])
  })

  it('says either when the old key expires or that it is revoked', async () => {
    const { apiKey } = await givenKey({ expireTime: new Date(Date.now() + hourMs) })
    const { stdout } = await runFormctl(['key', 'rotate', apiKey.keyId, '--overlap', '0', '--yes', '--json'])

    expect(JSON.parse(stdout).replaces).toEqual({ id: apiKey.keyId, revokeTime: expect.any(String) })
  })

  it('never extends the expiry of the old key', async () => {
    const expireTime = new Date(Date.now() + hourMs)
    const { apiKey } = await givenKey({ expireTime })

    await runFormctl(['key', 'rotate', apiKey.keyId, '--expires', '2126-11-20T09:30:00Z'])

    expect(await directory.listKeys()).toMatchObject([
      { expireTime },
      { expireTime: new Date('2126-11-20T09:30:00Z') },
    ])
  })

  it.each(['revoked', 'expired'])('rejects a key that is %s, and creates no key', async (state) => {
    const { apiKey } = await givenKey(state === 'expired' ? { expireTime: new Date(0) } : {})
    if (state === 'revoked') await directory.revokeKey(apiKey.keyId)

    const outcome = await runFormctl(['key', 'rotate', apiKey.keyId])

    expect(outcome).toMatchObject({ code: 1, stdout: '' })
    expect(outcome.stderr).toContain('is revoked or expired already. Create a new key instead.')
    expect(await directory.listKeys()).toHaveLength(1)
  })

  it.each(['1', 'h', '-1h', '1.5h', '1w', '1234567d'])(
    'is invalid usage with an overlap of %s',
    async (overlap) => {
      const { apiKey } = await givenKey()

      expect((await runFormctl(['key', 'rotate', apiKey.keyId, `--overlap=${overlap}`])).code).toBe(2)
      expect(await directory.listKeys()).toHaveLength(1)
    },
  )

  it('rejects an unknown key', async () => {
    const { code, stderr } = await runFormctl(['key', 'rotate', 'nonsense'])

    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('nonsense') })
  })
})
