import { migrateFormsStore } from '@fms/forms-store'
import { startMongo, type TestMongodb } from '@fms/testkit/mongodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTcpProxy, type TcpProxy } from './faults/tcp-proxy.ts'
import { type Account, publishable, type System, startSystem } from './system.ts'

const timeoutMs = 10_000

let mongo: TestMongodb
let network: TcpProxy
let system: System
let account: Account

beforeAll(async () => {
  mongo = await startMongo()
  await migrateFormsStore(mongo.url)
  const url = new URL(mongo.url)
  network = await startTcpProxy(Number(url.port))
  url.port = `${network.port}`
  // Otherwise the driver connects to the address that the replica set announces, without the proxy.
  url.searchParams.set('directConnection', 'true')
  system = await startSystem({ env: { FORMS_STORE_URL: url.href, PUBLISH_TIMEOUT_MS: `${timeoutMs}` } })
  account = await system.account()
})
afterAll(async () => {
  await system[Symbol.asyncDispose]()
  await network[Symbol.asyncDispose]()
  await mongo[Symbol.asyncDispose]()
})

const givenForm = async () => {
  const { body } = await system.call(account, 'POST', account.forms, { form: publishable() })
  return `${account.forms}/${body.publicId}`
}

const publish = (form: string) => system.call(account, 'POST', `${form}/publish`)

const revisions = async (form: string) =>
  (await system.call(account, 'GET', `${form}/revisions`)).body.totalSize

/** The deliveries of commands that ended with this outcome. */
const deliveries = async (outcome: string) => {
  const metrics = await (await fetch(`${system.urls.publisher}/metrics`)).text()
  return Number(new RegExp(`publish_commands_total{outcome="${outcome}"} (\\d+)`).exec(metrics)![1])
}

/** Waits until deliveries have failed this often. */
const retries = async (count: number) => {
  const before = await deliveries('retried')
  await expect
    .poll(() => deliveries('retried'), { timeout: timeoutMs })
    .toBeGreaterThanOrEqual(before + count)
}

describe('a publish while the store is unavailable', () => {
  it('succeeds when the store comes back before the deadline', async () => {
    const form = await givenForm()
    network.cut()

    const response = publish(form)
    // The first fails at once, each further one after two seconds in which the driver finds no server.
    await retries(2)
    await network.restore()

    expect((await response).status).toBe(200)
    expect(await revisions(form)).toBe(1)
  })

  it('gets 504 after the deadline, and never happens later', async () => {
    const form = await givenForm()
    const other = await givenForm()
    network.cut()

    const response = await publish(form)
    expect([response.status, response.body.error.details[0].reason]).toEqual([504, 'PUBLISH_TIMEOUT'])
    await network.restore()

    await expect.poll(async () => (await publish(other)).status, { timeout: 20_000 }).toBe(200)
    expect(await revisions(form)).toBe(0)
  })
})
