import { describe, expect, it } from 'vitest'
import { createSession } from './index.ts'
import { answered, failure, startServer } from './testing.ts'

const issued = { key: { path: 'keys/1' }, secret: 'fms_new' }
const requestId = '3f0c9a52-8a0f-4f55-8c59-0a3b1d2e4f60'

describe('keys', () => {
  it('are listed page by page', async () => {
    const [first, second] = [{ path: 'keys/2' }, { path: 'keys/1' }]
    await using server = await startServer([
      answered({ keys: [first], totalSize: 2, nextPageToken: 'next' }),
      answered({ keys: [second], totalSize: 2, nextPageToken: '' }),
    ])

    expect(await Array.fromAsync(server.client.keys.list({ pageSize: 1 }))).toEqual([first, second])
    expect(server.requests.map(({ url }) => url)).toEqual([
      '/v2/keys?pageSize=1',
      '/v2/keys?pageSize=1&pageToken=next',
    ])
  })

  it('are created with their members, and with the requestId', async () => {
    await using server = await startServer([answered(issued)])

    expect(await server.client.keys.create({ name: 'CI', readOnly: true }, { requestId })).toEqual(issued)
    expect(server.requests).toMatchObject([
      { method: 'POST', url: '/v2/keys', body: { key: { name: 'CI', readOnly: true }, requestId } },
    ])
  })

  it('are created once, and a lost secret is an error', async () => {
    await using server = await startServer([
      ...(['hang up', answered(issued)] as const),
      ...(['hang up', failure(409, 'KEY_ALREADY_CREATED', { metadata: { key: 'keys/1' } })] as const),
    ])
    const { keys } = server.client

    expect(await keys.create({ name: 'CI' })).toEqual(issued)
    await expect(keys.create({ name: 'CI' })).rejects.toMatchObject({
      reason: 'KEY_ALREADY_CREATED',
      metadata: { key: 'keys/1' },
    })
    const ids = server.requests.map(({ body }) => (body as { requestId: string }).requestId)
    expect([ids[0] === ids[1], ids[1] === ids[2], ids[2] === ids[3]]).toEqual([true, false, true])
  })

  it('are rotated by their path, with the requestId', async () => {
    await using server = await startServer([answered(issued)])

    expect(await server.client.keys.rotate('keys/1', { overlapSeconds: 60, requestId })).toEqual(issued)
    expect(server.requests).toMatchObject([
      { method: 'POST', url: '/v2/keys/1/rotate', body: { overlapSeconds: 60, requestId } },
    ])
  })

  it('are rotated once; a lost secret is an error, and an ended key of the client leaves the outcome unknown', async () => {
    await using server = await startServer([
      ...(['hang up', answered(issued)] as const),
      ...(['hang up', failure(409, 'KEY_ALREADY_CREATED', { metadata: { key: 'keys/2' } })] as const),
      ...(['hang up', failure(401, 'API_KEY_INVALID')] as const),
    ])
    const { keys } = server.client

    expect(await keys.rotate('1')).toEqual(issued)
    await expect(keys.rotate('1')).rejects.toMatchObject({
      reason: 'KEY_ALREADY_CREATED',
      metadata: { key: 'keys/2' },
    })
    await expect(keys.rotate('1')).rejects.toThrow('No response')
    const ids = server.requests.map(({ body }) => (body as { requestId: string }).requestId)
    expect([ids[0] === ids[1], ids[1] === ids[2], ids[2] === ids[3]]).toEqual([true, false, true])
  })

  it('are deleted, also if only the response to an earlier attempt is missing', async () => {
    await using server = await startServer([
      answered(),
      answered(),
      'hang up',
      failure(404, 'KEY_NOT_FOUND'),
      'hang up',
      failure(401, 'API_KEY_INVALID'),
      failure(404, 'KEY_NOT_FOUND'),
    ])
    const { keys } = server.client

    await keys.delete('keys/1')
    await keys.delete('1', { validateOnly: true })
    await keys.delete('1')
    await expect(keys.delete('1')).rejects.toThrow('No response')
    await expect(keys.delete('1')).rejects.toMatchObject({ reason: 'KEY_NOT_FOUND' })
    expect(server.requests.slice(0, 2)).toMatchObject([
      { method: 'DELETE', url: '/v2/keys/1' },
      { method: 'DELETE', url: '/v2/keys/1?validateOnly=true' },
    ])
  })
})

describe('whoami', () => {
  it('returns the caller', async () => {
    await using server = await startServer([answered({ memberships: [] })])

    expect(await server.client.whoami()).toEqual({ memberships: [] })
    expect(server.requests).toMatchObject([{ method: 'GET', url: '/v2/whoami' }])
  })
})

describe('createSession', () => {
  it('names the user of a code with validateOnly, again after a lost response', async () => {
    const dryRun = { ...issued, user: { email: 'ada@example.com' } }
    await using server = await startServer(['hang up', answered(dryRun)])
    const { baseUrl } = server

    expect(await createSession({ baseUrl }, 'the code', { validateOnly: true })).toEqual(dryRun)
    expect(server.requests[1]).toMatchObject({ body: { code: 'the code', validateOnly: true } })
  })

  it('sends the code without a key, once', async () => {
    await using server = await startServer([answered(issued), 'hang up'])
    const { baseUrl } = server

    expect(await createSession({ baseUrl }, 'the code')).toEqual(issued)
    await expect(createSession({ baseUrl }, 'the code')).rejects.toThrow('No response')
    expect(server.requests).toMatchObject([
      { method: 'POST', url: '/v2/sessions', body: { code: 'the code' } },
      {},
    ])
    expect(server.requests[0]!.headers).not.toHaveProperty('x-api-key')
  })
})
