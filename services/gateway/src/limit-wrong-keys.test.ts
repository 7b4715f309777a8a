import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { neighbourhoodOf } from './limit-wrong-keys.ts'
import { reasonOf, startGateway } from './testing.ts'

const wrongKey = () => `fms_${randomBytes(32).toString('base64url')}`
const path = '/v2/organizations'

const startLimited = async (options: Parameters<typeof startGateway>[0] = {}) => {
  const gateway = await startGateway({ wrongKeyLimitPerMinute: 3, ...options })
  const guess = (from?: string, as = wrongKey()) =>
    gateway.send('GET', path, { as, headers: from ? { 'x-forwarded-for': from } : {} })
  return Object.assign(gateway, { guess })
}

const statuses = async (answers: Promise<{ status: number }>[]) =>
  (await Promise.all(answers)).map(({ status }) => status)

describe('wrong keys from one address', () => {
  it('are refused after the limit, and asked about no more', async () => {
    await using gateway = await startLimited()
    for (const as of ['', 'fms_short', wrongKey()])
      expect((await gateway.send('GET', path, { as })).status).toBe(401)
    const asked = gateway.directory.questions.length

    const refused = await gateway.guess()

    expect([refused.status, reasonOf(refused)]).toEqual([429, 'TOO_MANY_WRONG_KEYS'])
    expect(refused.json().error.status).toBe('RESOURCE_EXHAUSTED')
    const seconds = Number(refused.headers['retry-after'])
    expect(seconds).toBeGreaterThan(50)
    expect(seconds).toBeLessThanOrEqual(60)
    expect(gateway.directory.questions).toHaveLength(asked)
  })

  it('do not keep out a key that is known, also after its answer has grown old', async () => {
    const clock = { now: 1_000_000 }
    await using gateway = await startLimited({ now: () => clock.now })
    expect((await gateway.send('GET', path)).status).toBe(200)
    for (let i = 0; i < 4; i++) await gateway.guess()
    clock.now += 10_000

    expect((await gateway.guess()).status).toBe(429)
    expect((await gateway.send('GET', path)).status).toBe(200)
  })

  it('keep out a right key that is new, as a wrong one, until the minute is over', async () => {
    const clock = { now: 1_000_000 }
    await using gateway = await startLimited({ now: () => clock.now })
    for (let i = 0; i < 3; i++) await gateway.guess()
    const [right, wrong] = [await gateway.send('GET', path), await gateway.guess()]
    expect(right.status).toBe(429)
    expect(right.withoutRequestId()).toBe(wrong.withoutRequestId())

    clock.now += 60_000

    expect((await gateway.send('GET', path)).status).toBe(200)
    expect((await gateway.guess()).status).toBe(401)
  })

  it('count for a revoked key, which is known no more', async () => {
    const clock = { now: 1_000_000 }
    await using gateway = await startLimited({ now: () => clock.now })
    expect((await gateway.send('GET', path)).status).toBe(200)
    gateway.directory.revoke(gateway.key)
    clock.now += 2_000

    for (let i = 0; i < 3; i++) expect((await gateway.send('GET', path)).status).toBe(401)

    expect((await gateway.send('GET', path)).status).toBe(429)
  })

  it('are not counted for answers that say nothing about the key', async () => {
    await using gateway = await startLimited()
    await gateway.organizations.stop()
    for (let i = 0; i < 5; i++) expect((await gateway.guess()).status).toBe(503)

    expect((await gateway.send('GET', path, { as: '' })).status).toBe(401)
  })

  it('are no limit with 0', async () => {
    await using gateway = await startLimited({ wrongKeyLimitPerMinute: 0 })

    expect(await statuses(Array.from({ length: 5 }, () => gateway.guess()))).toEqual(Array(5).fill(401))
  })
})

describe('the address of a caller', () => {
  it('is that of the connection, whatever X-Forwarded-For says', async () => {
    await using gateway = await startLimited()
    for (let i = 0; i < 3; i++) await gateway.guess(`192.0.2.${i}`)

    expect((await gateway.guess('192.0.2.9')).status).toBe(429)
  })

  it('is what a trusted proxy saw, and not what a caller told it', async () => {
    await using gateway = await startLimited({ trustProxy: '127.0.0.1' })
    for (let i = 0; i < 3; i++) await gateway.guess(`203.0.113.${i}, 192.0.2.1`)

    expect((await gateway.guess('203.0.113.9, 192.0.2.1')).status).toBe(429)
    expect((await gateway.guess('192.0.2.1, 192.0.2.2')).status).toBe(401)
  })

  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2::1', '32.1.13.184.0.1.0.2'],
    ['2001:db8:1:2:ffff:ffff:ffff:ffff', '32.1.13.184.0.1.0.2'],
    ['2001:db8:1:3::1', '32.1.13.184.0.1.0.3'],
    ['nonsense', 'nonsense'],
  ])('%s counts as %s', (address, counted) => {
    expect(neighbourhoodOf(address)).toBe(counted)
  })
})
