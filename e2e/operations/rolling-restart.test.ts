import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { Client } from '../faults/client.ts'
import { newAccount, type System } from '../system.ts'
import { startBalancer } from './rolling/balancer.ts'
import { type Deployment, type Exit, startDeployment, thisRelease } from './rolling/deployment.ts'
import { type RunDockerCommand, startFakeDocker } from './rolling/fake-docker.ts'

const clientCount = 3

/** The longest pause of a client between two requests, in milliseconds. */
const maxThinkMs = 500

/** Time between two restarts, in milliseconds. */
const loadMs = 200

/** The load balancer polls every 100 ms, so that a second suffices for gateways. The services use the default. */
const gatewayDrainMs = '1000'
const drainMs = '4000'

const operations = readFileSync(join(thisRelease, 'docs/operations.md'), 'utf8')

/** The commands that restart the instances of `forms` unchanged. */
const [, restartCommands] = /^To restart instances unchanged:\n\n```sh\n(.*?)^```$/ms.exec(operations)!

/** The command of an upgrade that replaces all services. */
const [, replaceCommand] = /^ +(sh deploy\/replace.sh organizations .*)$/m.exec(operations)!

const services = ['organizations', 'forms', 'publisher', 'gateway']

/**
 * Runs Docker's commands on a deployment. Containers are instances.
 *
 * @param running the numbers of the instances of each service.
 * @param exits of the stopped instances by name.
 */
const dockerOf =
  (deployment: Deployment, running: readonly number[], exits: Record<string, Exit>): RunDockerCommand =>
  async (args) => {
    const [line, name] = [args.join(' '), args.at(-1)!]
    if (line === `compose ps --quiet ${name}`) return running.map((number) => `${name}-${number}\n`).join('')
    if (args[0] === 'inspect') return 'healthy'
    if (args[0] === 'rm') return ''
    if (line === `compose up --detach --wait --no-deps --no-recreate --scale ${name}=2 ${name}`)
      await deployment.start(`${name}-2`)
    else if (args[0] === 'stop') exits[name] = await deployment.stop(name)
    else if (args[0] === 'restart') {
      exits[name] = await deployment.stop(name)
      await deployment.start(name)
    } else throw new Error('this test does not know the command')
    await delay(loadMs)
    return ''
  }

it.each([
  {
    change: 'a rolling restart',
    running: [1, 2],
    scripts: services.map((service) => restartCommands!.replaceAll('forms', service)),
  },
  { change: 'a replacement', running: [1], scripts: [replaceCommand!] },
])('$change of every service fails no request', async ({ running, scripts }) => {
  await using deployment = await startDeployment({
    startAtFirst: running,
    env: {
      organizations: { DRAIN_MS: drainMs },
      forms: { DRAIN_MS: drainMs },
      publisher: { DRAIN_MS: drainMs },
      gateway: { DRAIN_MS: gatewayDrainMs },
    },
  })
  await using balancer = startBalancer([deployment.urls['gateway-1']!, deployment.urls['gateway-2']!])
  await balancer.untilReady(running.length)
  const { call }: Pick<System, 'call'> = balancer
  const clients = await Promise.all(
    Array.from(
      { length: clientCount },
      // The client only uses `call` of a system.
      async () =>
        new Client({ call } as System, await newAccount(deployment.directoryStoreUrl, { role: 'owner' })),
    ),
  )
  const stop = new AbortController()
  const load = clients.map((client) => client.run(stop.signal, maxThinkMs))
  await delay(loadMs)

  const exits: Record<string, Exit> = {}
  await using docker = await startFakeDocker(dockerOf(deployment, running, exits))
  for (const script of scripts) await docker.runScript(script, thisRelease)
  stop.abort()
  await Promise.all(load)

  const { outcomes } = balancer
  expect([...outcomes.keys()]).toEqual([200])
  expect(outcomes.get(200)).toBeGreaterThan(clientCount * 10)
  expect(Object.keys(exits)).toHaveLength(running.length * services.length)
  for (const [instance, { code, afterMs }] of Object.entries(exits)) {
    expect(code, instance).toBe(0)
    expect(afterMs, instance).toBeLessThan(10_000)
  }
  const verdicts = await Promise.all(clients.map((client) => client.check()))
  expect(verdicts.flatMap(({ lost }) => lost)).toEqual([])
  expect(verdicts.flatMap(({ doubled }) => doubled)).toEqual([])
})
