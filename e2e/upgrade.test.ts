import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, it } from 'vitest'
import { startBalancer } from './operations/rolling/balancer.ts'
import { type Deployment, startDeployment, thisRelease } from './operations/rolling/deployment.ts'
import { type RunDockerCommand, startFakeDocker } from './operations/rolling/fake-docker.ts'
import { newAccount } from './system.ts'
import { prepareLastRelease } from './upgrade/last-release.ts'
import { type Load, startLoad } from './upgrade/load.ts'
import { openStores, type Stores } from './upgrade/stores.ts'

/** Duration of a long run on each store in minutes. Default: one upgrade and one way back. */
const minutes = Number(process.env.UPGRADE_MINUTES ?? 0)

/** As in rolling-restart.test.ts: the load balancer polls every 100 ms. */
const env = {
  organizations: { DRAIN_MS: '4000' },
  forms: { DRAIN_MS: '4000' },
  publisher: { DRAIN_MS: '4000' },
  gateway: { DRAIN_MS: '1000' },
}
const services = Object.keys(env)

/** The numbers of the instances of each release, as in `forms-1`. */
const numbers = { last: 1, this: 2 }
type Side = keyof typeof numbers

const operations = readFileSync(join(thisRelease, 'docs/operations.md'), 'utf8')

/** The commands of a section of docs/operations.md. */
const commandsOf = (heading: string): string => {
  const [, section = ''] = new RegExp(`^### ${heading}\n(.*?)^##`, 'ms').exec(operations)!
  return [...section.matchAll(/^ *```sh\n(.*?)^ *```$/gms)].map(([, block]) => block).join('')
}

/**
 * Runs Docker's commands on a deployment, whose instances take the place of containers. New ones are of the release of
 * `side`, unless they already run; the ones to replace are of the other release.
 */
const dockerOf = (deployment: Deployment, stores: Stores, load: Load, side: Side): RunDockerCommand => {
  const replaced = numbers[side === 'this' ? 'last' : 'this']
  const changes: [RegExp, (name: string) => Promise<unknown>][] = [
    [/^compose run --rm migrate$/, () => migrate(stores)],
    [
      /^compose up --detach --wait --no-deps --no-recreate --scale (\w+)=2 \1$/,
      (service) => deployment.start(`${service}-${numbers[side]}`),
    ],
    [/^stop ([\w-]+)$/, (instance) => stop(deployment, instance)],
  ]
  return async (args) => {
    const line = args.join(' ')
    const [, listed] = /^compose ps --quiet (\w+)$/.exec(line) ?? []
    if (listed) return `${listed}-${replaced}\n`
    if (/^(compose build|rm [\w-]+)$/.test(line)) return ''
    for (const [pattern, change] of changes) {
      const match = pattern.exec(line)
      if (!match) continue
      await change(match[1] ?? '')
      await load.progress()
      return ''
    }
    throw new Error('this test does not know the command')
  }
}

const migrate = (stores: Stores) =>
  promisify(execFile)(process.execPath, [join(thisRelease, 'formctl/src/formctl.ts'), 'migrate'], {
    env: { ...process.env, ...stores.urls },
  })

const stop = async (deployment: Deployment, instance: string) => {
  const { code } = await deployment.stop(instance)
  if (code !== 0) throw new Error(`${instance} ended with ${code}`)
}

const release = await prepareLastRelease(thisRelease)

describe(`an upgrade from ${release.name}, and the way back`, () => {
  it.concurrent.each(['SQLite', 'MongoDB'] as const)(
    'fail no request and lose no change, on %s',
    async (engine) => {
      await using stores = await openStores(engine, release)
      await using deployment = await startDeployment({
        releases: [release.folder, thisRelease],
        env,
        stores: stores.urls,
        startAtFirst: [numbers.last],
      })
      await using balancer = startBalancer([deployment.urls['gateway-1']!, deployment.urls['gateway-2']!])
      await balancer.untilReady(1)
      const newOrganization = () => newAccount(stores.urls.DIRECTORY_STORE_URL, {}, stores.openDirectoryStore)
      await using load = await startLoad(balancer, deployment.nats, newOrganization)
      const run = async (side: Side, section: string) => {
        await using docker = await startFakeDocker(dockerOf(deployment, stores, load, side))
        await docker.runScript(commandsOf(section), thisRelease)
      }
      const end = performance.now() + minutes * 60_000
      do {
        await run('this', 'Upgrade a cluster')
        await load.check()
        await Promise.all(services.map((service) => deployment.start(`${service}-${numbers.last}`)))
        await balancer.untilReady(2)
        await load.progress()
        await run('last', 'Go back')
        await load.check()
      } while (performance.now() < end)
    },
    (minutes + 5) * 60_000,
  )
})
