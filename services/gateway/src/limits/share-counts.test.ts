import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type NatsServer, startNatsServer } from '@fms/testkit/nats-server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { reasonOf, startGateway } from '../testing.ts'

const perMinute = 500
const dataDir = mkdtempSync(join(tmpdir(), 'share-counts-'))
let nats: NatsServer

beforeAll(async () => {
  nats = await startNatsServer({ dataDir })
})
afterAll(async () => {
  await nats.stop()
  rmSync(dataDir, { recursive: true })
})

type Gateway = Awaited<ReturnType<typeof startGateway>>

/** Two gateways that accept the same keys. */
const startTwo = async () => {
  const options = { natsUrl: nats.urls.gateway, rateLimitPerMinute: perMinute }
  const here = await startGateway(options)
  const there = await startGateway({ ...options, directory: here.directory })
  const newKey = () => here.directory.createKey([here.organization])
  const allowed = new Map<string, number>()
  const allowedBy = (gateway: Gateway, key: string) => allowed.get(`${gateway.origin} ${key}`) ?? 0
  const send = async (gateway: Gateway, key: string) => {
    const response = await gateway.send('GET', '/v2/organizations', { as: key })
    if (response.status === 200) allowed.set(`${gateway.origin} ${key}`, allowedBy(gateway, key) + 1)
    return response
  }
  const spend = async (gateway: Gateway, key: string, requests: number) => {
    for (let i = 0; i < requests; i++) await send(gateway, key)
  }
  /** Requests of a key that a gateway has counted for the other one. */
  const receivedCount = async (gateway: Gateway, key: string) => {
    const { headers } = await send(gateway, key)
    return perMinute - Number(headers['ratelimit-remaining']) - allowedBy(gateway, key)
  }
  const untilReceived = (gateway: Gateway, key: string, requests: number) =>
    expect.poll(() => receivedCount(gateway, key), polling).toBeGreaterThanOrEqual(requests)
  const untilShared = async (from: Gateway, to: Gateway) => {
    const key = newKey()
    await expect
      .poll(async () => [await send(from, key), await receivedCount(to, key)][1], polling)
      .toBeGreaterThan(0)
  }
  return {
    here,
    there,
    newKey,
    send,
    spend,
    allowedBy,
    receivedCount,
    untilReceived,
    untilShared,
    async [Symbol.asyncDispose]() {
      await here[Symbol.asyncDispose]()
      await there[Symbol.asyncDispose]()
    },
  }
}

const polling = { timeout: 10_000, interval: 50 }

describe('the rate limit of two gateways', () => {
  it('is one limit, which ends for both at the same time', async () => {
    await using two = await startTwo()
    await two.untilShared(two.here, two.there)
    const key = two.newKey()

    await two.spend(two.here, key, perMinute - 200)
    await two.untilReceived(two.there, key, perMinute - 200)
    await two.spend(two.there, key, 200)
    expect(two.allowedBy(two.there, key)).toBe(200)

    const rejected = await two.send(two.there, key)
    expect([rejected.status, reasonOf(rejected)]).toEqual([429, 'RATE_LIMITED'])
    await two.untilReceived(two.here, key, 150)
    await two.spend(two.here, key, 50)
    const alsoRejected = await two.send(two.here, key)
    expect([alsoRejected.status, alsoRejected.headers['ratelimit-remaining']]).toEqual([429, '0'])
    const resets = [rejected, alsoRejected].map(({ headers }) => Number(headers['ratelimit-reset']))
    expect(Math.abs(resets[0]! - resets[1]!)).toBeLessThanOrEqual(1)
  })

  it('applies to each gateway while NATS is unavailable, and to both after a reconnect', async () => {
    await using two = await startTwo()
    await two.untilShared(two.here, two.there)
    const key = two.newKey()

    await nats.stop()
    await two.spend(two.here, key, perMinute)
    expect((await two.send(two.here, key)).status).toBe(429)
    expect(await two.receivedCount(two.there, key)).toBe(0)

    await nats.restart()
    await two.untilReceived(two.there, key, perMinute - 150)
    await two.untilShared(two.there, two.here)
  })
})
