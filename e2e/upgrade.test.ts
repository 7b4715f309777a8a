import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, vi } from 'vitest'
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

/** Whether the schemas of this release exclude the last one on SQLite. Not in sources from an archive: see `release`. */
const isExcluded = release.folder !== thisRelease

/** Two instances of each service, the first of the last release, which runs, and a load on them. */
const startUpgrade = async (engine: 'SQLite' | 'MongoDB') => {
  await using starting = new AsyncDisposableStack()
  const stores = starting.use(await openStores(engine, release))
  const deployment = starting.use(
    await startDeployment({
      releases: [release.folder, thisRelease],
      env,
      stores: stores.urls,
      startAtFirst: [numbers.last],
    }),
  )
  const gateways = [deployment.urls['gateway-1']!, deployment.urls['gateway-2']!]
  const balancer = starting.use(startBalancer(gateways))
  await balancer.untilReady(1)
  const newOrganization = () => newAccount(stores.urls.DIRECTORY_STORE_URL, {}, stores.openDirectoryStore)
  const load = starting.use(await startLoad(balancer, deployment.nats, newOrganization))
  const started = starting.move()
  return {
    stores,
    deployment,
    balancer,
    load,
    newOrganization,
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  }
}

/** The members of a form, a page or an error that the test reads. */
interface AnyBody {
  publicId: string
  totalSize: number
  error?: { details: [{ reason: string }] }
}

describe(`an upgrade from ${release.name}`, () => {
  it.concurrent(
    'and the way back fail no request and lose no change, on MongoDB',
    async () => {
      await using upgrade = await startUpgrade('MongoDB')
      const { stores, deployment, balancer, load } = upgrade
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

  it.concurrent(
    'of one machine loses no change, on SQLite, also where services of the last release still run',
    async () => {
      await using upgrade = await startUpgrade('SQLite')
      const { stores, deployment, balancer, load } = upgrade
      const account = await upgrade.newOrganization()
      const send = async (method: string, path: string, body?: object) => {
        const response = await fetch(`${deployment.urls['gateway-1']}/v2${path}`, {
          method,
          headers: { 'x-api-key': account.apiKey, 'content-type': 'application/json' },
          ...(body && { body: JSON.stringify(body) }),
        })
        return { status: response.status, body: (await response.json()) as AnyBody }
      }
      const before = await send('POST', account.forms, { form: { name: 'Before' } })
      const form = `${account.forms}/${before.body.publicId}`
      await load.progress()
      await load.pause()

      await migrate(stores)
      const expectRefusals = async () => {
        const outcomeOf = async (method: string, path: string, body?: object) => {
          const response = await send(method, path, body)
          return { status: response.status, reason: response.body.error?.details[0].reason }
        }
        const refusal = { status: 503, reason: 'STORE_SCHEMA_TOO_NEW' }
        const lost = { form: { name: 'Lost' } }
        // Each write checks the schema; reads check it once a second.
        expect(await outcomeOf('POST', account.forms, lost)).toEqual(refusal)
        expect(await outcomeOf('PATCH', form, lost)).toEqual(refusal)
        expect(await outcomeOf('DELETE', form, {})).toEqual(refusal)
        for (const path of [form, account.forms]) {
          const isRefused = async () => expect(await outcomeOf('GET', path)).toEqual(refusal)
          await vi.waitFor(isRefused, { timeout: 30_000 })
        }
        expect((await fetch(`${deployment.urls['forms-1']}/readyz`)).status).toBe(503)
      }
      if (isExcluded) await load.replyDuring(expectRefusals)
      for (const service of services) await stop(deployment, `${service}-${numbers.last}`)
      await Promise.all(services.map((service) => deployment.start(`${service}-${numbers.this}`)))
      await balancer.untilReady(1)

      await load.check()
      const after = await balancer.call(account, 'GET', form)
      expect(after.body).toEqual({ ...before.body, publicUrl: expect.any(String) })
      const { body } = await balancer.call(account, 'GET', account.forms)
      expect(body.totalSize).toBe(1)
      await load.progress()
      await load.check()
    },
    5 * 60_000,
  )
})
