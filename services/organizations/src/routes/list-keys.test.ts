import { ListKeysResponse } from '@fms/contracts'
import { describe, expect, it } from 'vitest'
import { startOrganizations } from '../testing.ts'

describe('GET /keys', () => {
  it('lists only the live keys of the caller, newest first, without secrets', async () => {
    await using service = await startOrganizations()
    const { given, directory, clock } = service
    const caller = await given.caller({ name: 'first' })
    const tick = () => {
      clock.now = new Date(clock.now.getTime() + 1000)
    }
    tick()
    const revoked = await given.key({ userId: caller.userId })
    await directory.revokeKey(revoked.apiKey.keyId)
    await given.caller({ name: "another user's" })
    tick()
    const second = await given.key({ userId: caller.userId, name: 'second', readOnly: true })
    await directory.touchKey(caller.keyId, clock.now)

    const response = await service.send(caller.identity, { url: '/keys' })

    expect(response.statusCode).toBe(200)
    const { keys, ...page } = ListKeysResponse.parse(response.json())
    expect(page).toEqual({ nextPageToken: '', totalSize: 2 })
    expect(keys).toMatchObject([
      { name: 'second', readOnly: true, lastUsedTime: '', expireTime: '', current: false },
      { path: `keys/${caller.keyId}`, name: 'first', lastUsedTime: clock.now.toISOString(), current: true },
    ])
    for (const { key } of [caller, second]) expect(response.body).not.toContain(key)
  })

  it('returns pages, whose tokens are valid only for their user', async () => {
    await using service = await startOrganizations()
    const [ada, bob] = [await service.given.caller({ name: '0' }), await service.given.caller()]
    for (const name of ['1', '2', '3', '4']) {
      service.clock.now = new Date(service.clock.now.getTime() + 1000)
      await service.given.key({ userId: ada.userId, name })
    }
    const list = async (query: Record<string, string>, caller = ada) =>
      (await service.send(caller.identity, { url: `/keys?${new URLSearchParams(query)}` })).json()

    const first = await list({ pageSize: '2' })
    const second = await list({ pageSize: '2', pageToken: first.nextPageToken })
    const third = await list({ pageToken: first.nextPageToken, skip: '2' })

    const names = ({ keys }: ListKeysResponse) => keys.map(({ name }) => name)
    expect([first, second, third].map(names)).toEqual([['4', '3'], ['2', '1'], ['0']])
    expect([first, second, third].map(({ totalSize }) => totalSize)).toEqual([5, 5, 5])
    expect((await list({ pageToken: first.nextPageToken }, bob)).error.details[0].reason).toBe(
      'INVALID_PAGE_TOKEN',
    )
  })

  it('rejects a filter and an order', async () => {
    await using service = await startOrganizations()
    const { identity } = await service.given.caller()

    const response = await service.send(identity, { url: '/keys?filter=a&orderBy=name' })

    expect(response.statusCode).toBe(400)
    expect(response.json().error.details[1].fieldViolations).toMatchObject([
      { field: 'filter' },
      { field: 'orderBy' },
    ])
  })
})
