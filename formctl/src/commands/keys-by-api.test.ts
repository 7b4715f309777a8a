import { describe, expect, it, vi } from 'vitest'
import { withFakeApi } from '../testing/fake-api.ts'
import { runFormctl } from '../testing/run-formctl.ts'

const keyId = '9d2e6a0f-3f0e-4bb6-8a54-0f6d3a1b9e33'
const key = {
  path: `keys/${keyId}`,
  name: 'CI',
  prefix: 'Zk3vQ9xT',
  readOnly: false,
  createTime: '2026-11-20T09:30:00.000Z',
  lastUsedTime: '',
  expireTime: '',
  current: true,
}

const api = withFakeApi(() => ({ body: {} }))

describe('with FORMS_API_URL', () => {
  it('formctl key create creates a key of the user of FORMS_API_KEY', async () => {
    api.respond = () => ({ body: { key, secret: 'fms_new' } })

    const { code, stdout } = await runFormctl([
      ...['key', 'create', '--name', 'CI', '--read-only', '--expires', '2126-11-20T09:30:00+01:00', '--json'],
    ])

    expect([code, JSON.parse(stdout)]).toEqual([0, { id: keyId, key: 'fms_new' }])
    const expireTime = '2126-11-20T08:30:00.000Z'
    expect(api.received).toEqual([
      {
        method: 'POST',
        url: '/v2/keys',
        key: 'fms_mine',
        ifMatch: undefined,
        body: { key: { name: 'CI', readOnly: true, expireTime }, requestId: expect.any(String) },
      },
    ])
  })

  it('formctl key list lists all pages', async () => {
    const second = { ...key, path: 'keys/0d2e6a0f-3f0e-4bb6-8a54-0f6d3a1b9e33', current: false }
    api.respond = ({ url }) =>
      url!.includes('pageToken=next')
        ? { body: { keys: [second], nextPageToken: '', totalSize: 2 } }
        : { body: { keys: [key], nextPageToken: 'next', totalSize: 2 } }

    const { stdout } = await runFormctl(['key', 'list'])
    const table = await runFormctl(['key', 'list'], { isOutputTty: true })

    expect(JSON.parse(stdout).keys.map(({ id }: { id: string }) => id)).toEqual([
      keyId,
      '0d2e6a0f-3f0e-4bb6-8a54-0f6d3a1b9e33',
    ])
    expect(table.stdout).toContain('fms_Zk3vQ9xT… (this one)')
  })

  it('formctl key rotate replaces a key, with the overlap in seconds', async () => {
    // The old key ends with its own expireTime, which the new one has as well, if that is before the end of the overlap.
    const expireTime = '2000-01-01T00:00:00.000Z'
    api.respond = () => ({ body: { key: { ...key, expireTime }, secret: 'fms_new' } })

    const kept = await runFormctl(['key', 'rotate', keyId, '--overlap', '30m', '--json'])
    const revoked = await runFormctl(['key', 'rotate', keyId, '--overlap', '0', '--yes'])

    expect(JSON.parse(kept.stdout)).toMatchObject({
      key: 'fms_new',
      replaces: { id: keyId, expireTime },
    })
    expect(revoked.stdout).toContain(`The old key ${keyId} is revoked.`)
    expect(api.received).toMatchObject([
      { url: `/v2/keys/${keyId}/rotate`, body: { overlapSeconds: 1_800, requestId: expect.any(String) } },
      { url: `/v2/keys/${keyId}/rotate`, body: { overlapSeconds: 0 } },
    ])
  })

  it('formctl key revoke asks on a terminal, then revokes', async () => {
    api.respond = () => ({ body: {} })

    expect((await runFormctl(['key', 'revoke', keyId], { typed: 'n' })).code).toBe(1)
    expect(api.received).toEqual([])
    const { code, stdout } = await runFormctl(['key', 'revoke', keyId.toUpperCase(), '--yes', '--json'])

    expect([code, JSON.parse(stdout)]).toEqual([0, { id: keyId }])
    expect(api.received).toMatchObject([{ method: 'DELETE', url: `/v2/keys/${keyId.toUpperCase()}` }])
  })

  it('prints the message of an error, and what to check without a response of the API', async () => {
    const error = {
      code: 404,
      status: 'NOT_FOUND',
      message: 'You have no such key.',
      details: [],
    }
    api.respond = () => ({ status: 404, body: { error } })
    expect(await runFormctl(['key', 'revoke', keyId, '--yes'])).toMatchObject({
      code: 1,
      stderr: 'error: You have no such key.\n',
    })

    api.respond = () => ({ status: 502, body: 'of a proxy' })
    expect((await runFormctl(['key', 'list'])).stderr).toContain('responds 502')

    vi.stubEnv('FORMS_API_URL', 'http://127.0.0.1:1/v2')
    expect((await runFormctl(['key', 'list'])).stderr).toContain('Check FORMS_API_URL')
  })

  it('formctl key update changes nothing, and says that the API cannot', async () => {
    const { code, stderr } = await runFormctl(['key', 'update', keyId, '--name', 'nightly'])

    expect([code, stderr]).toEqual([1, expect.stringContaining('Unset FORMS_API_URL')])
    expect(api.received).toEqual([])
  })

  it.each([
    ['key', 'create', '--user', 'ada@example.com'],
    ['key', 'rotate', keyId, '--expires', '2126-11-20T09:30:00Z'],
  ])('formctl %s %s rejects %s %s', async (...args) => {
    const { code, stderr } = await runFormctl(args)

    expect([code, stderr]).toEqual([2, expect.stringContaining('does not work with FORMS_API_URL')])
    expect(api.received).toEqual([])
  })

  it('needs FORMS_API_KEY', async () => {
    vi.stubEnv('FORMS_API_KEY', '')

    const { code, stderr } = await runFormctl(['key', 'list'])

    expect([code, stderr]).toEqual([1, expect.stringContaining('FORMS_API_KEY is not')])
  })
})

describe('without FORMS_API_URL', () => {
  it('formctl key create requires --user', async () => {
    vi.stubEnv('FORMS_API_URL', '')
    vi.stubEnv('DIRECTORY_STORE_URL', 'sqlite::memory:')

    const { code, stderr } = await runFormctl(['key', 'create'])

    expect([code, stderr]).toEqual([2, expect.stringContaining("required option '--user <ref>'")])
  })
})
