import { describe, expect, it } from 'vitest'
import { reasonOf, startGateway } from '../testing.ts'

const limits = ({ headers }: { headers: Record<string, unknown> }) => [
  headers['ratelimit-limit'],
  headers['ratelimit-remaining'],
]

describe('the rate limit', () => {
  it('says on every answer to a known key how much is left, and then 429', async () => {
    await using gateway = await startGateway({ rateLimitPerMinute: 3 })
    const paths = ['/v2/organizations', '/v2/organizations/foreign', '/v2/nothing', '/v2/organizations']

    const answers = []
    for (const path of paths) answers.push(await gateway.send('GET', path))

    expect(answers.map(({ status }) => status)).toEqual([200, 404, 404, 429])
    expect(answers.map(limits)).toEqual([
      ['3', '2'],
      ['3', '1'],
      ['3', '0'],
      ['3', '0'],
    ])
    const refused = answers[3]!
    expect(reasonOf(refused)).toBe('RATE_LIMITED')
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect(refused.headers['retry-after']).toBe(refused.headers['ratelimit-reset'])
  })

  it('counts each key by itself', async () => {
    await using gateway = await startGateway({ rateLimitPerMinute: 1 })
    const other = gateway.directory.key([gateway.organization])

    expect((await gateway.send('GET', '/v2/organizations')).status).toBe(200)
    expect((await gateway.send('GET', '/v2/organizations')).status).toBe(429)
    expect((await gateway.send('GET', '/v2/organizations', { as: other })).status).toBe(200)
  })

  it('is taken away by 0', async () => {
    await using gateway = await startGateway({ rateLimitPerMinute: 0 })

    const answer = await gateway.send('GET', '/v2/organizations')

    expect(answer.status).toBe(200)
    expect(limits(answer)).toEqual([undefined, undefined])
  })
})
