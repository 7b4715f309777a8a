import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { Client } from '../faults/client.ts'
import { newAccount, type System } from '../system.ts'
import { startBalancer } from './rolling/balancer.ts'
import { type Deployment, type End, startDeployment } from './rolling/deployment.ts'

const clientCount = 3

/** The load between two restarts, in milliseconds. */
const loadMs = 200

/** A balancer that looks every 100 ms needs no more. Among themselves services keep to the default. */
const gatewayDrainMs = '1000'
const drainMs = '4000'

const restart = async (deployment: Deployment, instance: string): Promise<End> => {
  const end = await deployment.stop(instance)
  await deployment.start(instance)
  await delay(loadMs)
  return end
}

it('no request fails while every instance of every service is restarted, one after another', async () => {
  await using deployment = await startDeployment({
    instances: 2,
    env: {
      organizations: { DRAIN_MS: drainMs },
      forms: { DRAIN_MS: drainMs },
      publisher: { DRAIN_MS: drainMs },
      gateway: { DRAIN_MS: gatewayDrainMs },
    },
  })
  await using balancer = startBalancer([deployment.urls['gateway-1']!, deployment.urls['gateway-2']!])
  await balancer.has(2)
  const { call }: Pick<System, 'call'> = balancer
  const clients = await Promise.all(
    Array.from(
      { length: clientCount },
      // All that it uses of a system is its call.
      async () => new Client({ call } as System, await newAccount(deployment.directoryStoreUrl)),
    ),
  )
  const stop = new AbortController()
  const running = clients.map((client) => client.run(stop.signal))
  await delay(loadMs)

  const ends: Record<string, End> = {}
  for (const service of ['organizations', 'forms', 'publisher', 'gateway']) {
    for (const instance of [`${service}-1`, `${service}-2`]) {
      ends[instance] = await restart(deployment, instance)
      if (service === 'gateway') await balancer.has(2)
    }
  }
  stop.abort()
  await Promise.all(running)

  const { outcomes } = balancer
  expect([...outcomes.keys()]).toEqual([200])
  expect(outcomes.get(200)).toBeGreaterThan(clientCount * 10)
  for (const [instance, { code, afterMs }] of Object.entries(ends)) {
    expect(code, instance).toBe(0)
    expect(afterMs, instance).toBeLessThan(10_000)
  }
  const verdicts = await Promise.all(clients.map((client) => client.check()))
  expect(verdicts.flatMap(({ lost }) => lost)).toEqual([])
  expect(verdicts.flatMap(({ doubled }) => doubled)).toEqual([])
})
