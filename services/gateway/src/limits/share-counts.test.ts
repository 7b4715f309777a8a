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

/** Two gateways that know the same keys. */
const startTwo = async () => {
  const options = { natsUrl: nats.urls.gateway, rateLimitPerMinute: perMinute }
  const here = await startGateway(options)
  const there = await startGateway({ ...options, directory: here.directory })
  const newKey = () => here.directory.key([here.organization])
  const passed = new Map<string, number>()
  const passedHere = (gateway: Gateway, key: string) => passed.get(`${gateway.origin} ${key}`) ?? 0
  const send = async (gateway: Gateway, key: string) => {
    const answer = await gateway.send('GET', '/v2/organizations', { as: key })
    if (answer.status === 200) passed.set(`${gateway.origin} ${key}`, passedHere(gateway, key) + 1)
    return answer
  }
  const spend = async (gateway: Gateway, key: string, requests: number) => {
    for (let i = 0; i < requests; i++) await send(gateway, key)
  }
  /** How many requests of a key a gateway knows of that it did not pass on itself. */
  const heardOf = async (gateway: Gateway, key: string) => {
    const { headers } = await send(gateway, key)
    return perMinute - Number(headers['ratelimit-remaining']) - passedHere(gateway, key)
  }
  const untilHeard = (gateway: Gateway, key: string, requests: number) =>
    expect.poll(() => heardOf(gateway, key), patient).toBeGreaterThanOrEqual(requests)
  const untilShared = async (from: Gateway, to: Gateway) => {
    const key = newKey()
    await expect
      .poll(async () => [await send(from, key), await heardOf(to, key)][1], patient)
      .toBeGreaterThan(0)
  }
  return {
    here,
    there,
    newKey,
    send,
    spend,
    passedHere,
    heardOf,
    untilHeard,
    untilShared,
    async [Symbol.asyncDispose]() {
      await here[Symbol.asyncDispose]()
      await there[Symbol.asyncDispose]()
    },
  }
}

const patient = { timeout: 10_000, interval: 50 }

describe('the rate limit of two gateways', () => {
  it('is one budget, which ends for both and at the same time', async () => {
    await using two = await startTwo()
    await two.untilShared(two.here, two.there)
    const key = two.newKey()

    await two.spend(two.here, key, perMinute - 200)
    await two.untilHeard(two.there, key, perMinute - 200)
    await two.spend(two.there, key, 200)
    expect(two.passedHere(two.there, key)).toBe(200)

    const refused = await two.send(two.there, key)
    expect([refused.status, reasonOf(refused)]).toEqual([429, 'RATE_LIMITED'])
    await two.untilHeard(two.here, key, 150)
    await two.spend(two.here, key, 50)
    const alsoRefused = await two.send(two.here, key)
    expect([alsoRefused.status, alsoRefused.headers['ratelimit-remaining']]).toEqual([429, '0'])
    const resets = [refused, alsoRefused].map(({ headers }) => Number(headers['ratelimit-reset']))
    expect(Math.abs(resets[0]! - resets[1]!)).toBeLessThanOrEqual(1)
  })

  it('is one for each while NATS is away, and one again once it is back', async () => {
    await using two = await startTwo()
    await two.untilShared(two.here, two.there)
    const key = two.newKey()

    const { port } = nats
    await nats.stop()
    await two.spend(two.here, key, perMinute)
    expect((await two.send(two.here, key)).status).toBe(429)
    expect(await two.heardOf(two.there, key)).toBe(0)

    nats = await startNatsServer({ dataDir, port })
    await two.untilHeard(two.there, key, perMinute - 150)
    await two.untilShared(two.there, two.here)
  })
})
