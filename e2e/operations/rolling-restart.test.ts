import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { Client } from '../faults/client.ts'
import { newAccount, type System } from '../system.ts'
import { startBalancer } from './rolling/balancer.ts'
import { type Deployment, type Exit, startDeployment } from './rolling/deployment.ts'

const clientCount = 3

/** Time between two restarts, in milliseconds. */
const loadMs = 200

/** The load balancer polls every 100 ms, so that a second suffices for gateways. The services use the default. */
const gatewayDrainMs = '1000'
const drainMs = '4000'

const restart = async (deployment: Deployment, instance: string): Promise<Exit> => {
  const exit = await deployment.stop(instance)
  await deployment.start(instance)
  await delay(loadMs)
  return exit
}

it('a rolling restart of every service fails no request', async () => {
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
  await balancer.untilReady(2)
  const { call }: Pick<System, 'call'> = balancer
  const clients = await Promise.all(
    Array.from(
      { length: clientCount },
      // The client only uses `call` of a system.
      async () => new Client({ call } as System, await newAccount(deployment.directoryStoreUrl)),
    ),
  )
  const stop = new AbortController()
  const running = clients.map((client) => client.run(stop.signal))
  await delay(loadMs)

  const exits: Record<string, Exit> = {}
  for (const service of ['organizations', 'forms', 'publisher', 'gateway']) {
    for (const instance of [`${service}-1`, `${service}-2`]) {
      exits[instance] = await restart(deployment, instance)
      if (service === 'gateway') await balancer.untilReady(2)
    }
  }
  stop.abort()
  await Promise.all(running)

  const { outcomes } = balancer
  expect([...outcomes.keys()]).toEqual([200])
  expect(outcomes.get(200)).toBeGreaterThan(clientCount * 10)
  for (const [instance, { code, afterMs }] of Object.entries(exits)) {
    expect(code, instance).toBe(0)
    expect(afterMs, instance).toBeLessThan(10_000)
  }
  const verdicts = await Promise.all(clients.map((client) => client.check()))
  expect(verdicts.flatMap(({ lost }) => lost)).toEqual([])
  expect(verdicts.flatMap(({ doubled }) => doubled)).toEqual([])
})
