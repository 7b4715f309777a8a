import { describe, expect, it } from 'vitest'
import { reasonOf, startGateway } from '../testing.ts'

const rateLimitOf = ({ headers }: { headers: Record<string, unknown> }) => [
  headers['ratelimit-limit'],
  headers['ratelimit-remaining'],
]

describe('the rate limit', () => {
  it('is on every response to a known key, and ends in a 429', async () => {
    await using gateway = await startGateway({ rateLimitPerMinute: 3 })
    const paths = ['/v2/organizations', '/v2/organizations/foreign', '/v2/nothing', '/v2/organizations']

    const responses = []
    for (const path of paths) responses.push(await gateway.send('GET', path))

    expect(responses.map(({ status }) => status)).toEqual([200, 404, 404, 429])
    expect(responses.map(rateLimitOf)).toEqual([
      ['3', '2'],
      ['3', '1'],
      ['3', '0'],
      ['3', '0'],
    ])
    const rejected = responses[3]!
    expect(reasonOf(rejected)).toBe('RATE_LIMITED')
    expect(Number(rejected.headers['retry-after'])).toBeGreaterThan(0)
    expect(rejected.headers['retry-after']).toBe(rejected.headers['ratelimit-reset'])
  })

  it('counts each key separately', async () => {
    await using gateway = await startGateway({ rateLimitPerMinute: 1 })
    const other = gateway.directory.createKey([gateway.organization])

    expect((await gateway.send('GET', '/v2/organizations')).status).toBe(200)
    expect((await gateway.send('GET', '/v2/organizations')).status).toBe(429)
    expect((await gateway.send('GET', '/v2/organizations', { as: other })).status).toBe(200)
  })

  it('is lifted by 0', async () => {
    await using gateway = await startGateway({ rateLimitPerMinute: 0 })

    const response = await gateway.send('GET', '/v2/organizations')

    expect(response.status).toBe(200)
    expect(rateLimitOf(response)).toEqual([undefined, undefined])
  })
})
