/** `npm run test:cluster`: the Compose cluster in containers, from the last release to a restored backup. */
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { runOperatorSetup } from '../compose/compose.ts'
import { Client } from '../faults/client.ts'
import { type Balancer, startBalancer } from '../operations/rolling/balancer.ts'
import { type Account, publishable, type System } from '../system.ts'
import { attackNeighbour } from './attack-neighbour.ts'
import { DockerCluster, gatewayPorts, members } from './docker-cluster.ts'

const root = join(import.meta.dirname, '../..')
const logFile = join(root, 'cluster.log')

const clientCount = 3
const elections = 2
/** How long the load runs before and after an event, in milliseconds. */
const loadMs = 2_000

const operations = readFileSync(join(root, 'docs/operations.md'), 'utf8')
const commandsOf = (heading: string) =>
  [
    ...new RegExp(`^##+ ${heading}\n(.*?)^##+ `, 'ms')
      .exec(operations)![1]!
      .matchAll(/^ +((?:docker compose|sh) .*)$/gm),
  ].map(([, line]) => line!)

const main = async (cluster: DockerCluster, folder: string) => {
  step('Start the release before this one, and publish a form')
  await cluster.run('docker compose build --quiet && docker compose up --detach --wait')
  await using balancer = startBalancer(gatewayPorts.map(originOf))
  await balancer.untilReady(1)
  const setup = await runOperatorSetup({
    gatewayPort: await gatewayPort(cluster),
    formctl: async (...args) => JSON.parse(await cluster.formctl(...args, '--json')),
  })
  assert.match(setup, /^Done: /m)
  const accounts: Account[] = []
  for (let number = 1; number <= clientCount; number++)
    accounts.push(await cluster.account(`client-${number}`))
  const { call }: Pick<System, 'call'> = balancer
  const clients = accounts.map((account) => new Client({ call }, account))

  step('Upgrade to this release under load, without a failed request')
  const failures = await underLoad(clients, async () => {
    cluster.release = root
    await cluster.run(commandsOf('Upgrade a cluster').join('\n'))
  })
  assert.deepEqual(failures, [])
  await cluster.run('docker compose run --rm -T formctl doctor')

  step(`Hold ${2 * elections} elections in a replica set of three under load`)
  for (const member of members) await cluster.mongosh(addMember(member))
  const refusals = await underLoad(clients, async () => {
    for (let number = 0; number < elections; number++) process.stdout.write(await cluster.mongosh(stepDown))
  })
  assert.deepEqual(
    refusals.filter((failure) => !isRetryable(failure)),
    [],
  )

  step('Attack a neighbour, within the default limits')
  await cluster.run('docker compose up --detach --wait --no-deps gateway', root, {
    RATE_LIMIT_PER_MINUTE: '6000',
  })
  await balancer.untilReady(1)
  const [attacker, neighbour] = [await cluster.account('attacker'), await cluster.account('neighbour')]
  await attackNeighbour({ call }, originOf(await gatewayPort(cluster)), attacker, neighbour)

  step('Dump MongoDB, restore it, and compare')
  await dumpAndRestore(cluster, balancer, clients, accounts, folder)
  process.stdout.write('\nDone: no acknowledged write was lost.\n')
}

/**
 * Runs `work` while clients write.
 *
 * @returns the failures of their requests by status and reason.
 * @throws when an acknowledged write is lost, or a write has taken effect twice.
 */
const underLoad = async (clients: readonly Client[], work: () => Promise<void>): Promise<string[]> => {
  const stop = new AbortController()
  const load = Promise.all(clients.map((client) => client.run(stop.signal)))
  // Awaited below; marks a rejection before that as handled.
  load.catch(() => {})
  try {
    await delay(loadMs)
    await work()
    await delay(loadMs)
  } finally {
    stop.abort()
    await load
  }
  const tallies = clients.map((client) => client.takeTally())
  const requests = tallies.reduce((sum, each) => sum + each.requests, 0)
  const failures = tallies.flatMap((each) => [...each.failures.keys()])
  process.stdout.write(`${requests} requests; failures: ${failures.join(', ') || 'none'}\n`)
  const verdicts = await Promise.all(clients.map((client) => client.check()))
  assert.deepEqual(
    verdicts.flatMap(({ lost, doubled }) => [...lost, ...doubled]),
    [],
  )
  return failures
}

/** Whether a request that fails in this way during an election may be repeated. */
const isRetryable = (failure: string) => /^(broken connection|50[34] \w+|409 UPDATE_ABORTED)$/.test(failure)

/** Repeated, because MongoDB refuses a change of members until the last one has reached a majority. */
const addMember = (host: string) => `
  const member = { host: '${host}:27017', priority: 0.5 }
  while (!rs.conf().members.some(({ host }) => host === member.host))
    try { rs.add(member) } catch (error) { print(error.codeName); sleep(500) }
  while (!rs.status().members.some(({ name, stateStr }) => name === member.host && stateStr === 'SECONDARY')) sleep(200)`

/** Another member becomes the primary, and ten seconds later mongo again, whose priority is higher. */
const stepDown = `
  db.adminCommand({ replSetStepDown: 10, secondaryCatchUpPeriodSecs: 5 })
  const deadline = Date.now() + 120_000
  for (let known = 'mongo:27017'; ; sleep(50)) {
    if (Date.now() > deadline) throw new Error('mongo is not the primary again after two minutes')
    const { primary, isWritablePrimary } = db.hello()
    if (!primary || primary === known) continue
    known = primary
    print('The primary is ' + primary + '.')
    if (isWritablePrimary) break
  }`

const dumpAndRestore = async (
  cluster: DockerCluster,
  balancer: Balancer,
  clients: readonly Client[],
  accounts: readonly Account[],
  folder: string,
) => {
  const [dump, ...restore] = commandsOf('Backup and restore')
  const before = await cluster.formctl('forms', 'export')
  await cluster.run(dump!, folder)
  const [account] = accounts
  const late = await balancer.call(account!, 'POST', account!.forms, { form: publishable() })
  assert.equal(late.status, 200)

  await cluster.run(restore.join('\n'), folder)
  await balancer.untilReady(1)

  assert.ok(before.split('\n').length > clientCount)
  assert.equal(await cluster.formctl('forms', 'export'), before)
  assert.deepEqual(await underLoad(clients, async () => {}), [])
}

const originOf = (port: number) => `http://127.0.0.1:${port}`

/** The port of the only gateway: that of its successor after an upgrade. */
const gatewayPort = async (cluster: DockerCluster): Promise<number> => {
  const [line] = (await cluster.compose('ps', '--format', 'json', 'gateway')).trim().split('\n')
  return JSON.parse(line!).Publishers.find(({ PublishedPort }: { PublishedPort: number }) => PublishedPort)
    .PublishedPort
}

const step = (text: string) => process.stdout.write(`\n# ${text}\n`)

const git = (...args: string[]) =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: 'pipe' }).trim()

/** The last release, or the parent commit while there is none. */
const releaseBefore = (): string => {
  try {
    return git('describe', '--tags', '--abbrev=0', '--match=v[0-9]*', 'HEAD^')
  } catch {
    return 'HEAD^'
  }
}

const requireDocker = async () => {
  try {
    await promisify(execFile)('docker', ['compose', 'ls'])
  } catch {
    process.stderr.write('npm run test:cluster needs Docker with Compose: `docker compose ls` fails.\n')
    process.exit(1)
  }
}

const interruption = async () => {
  await Promise.race(['SIGINT', 'SIGTERM'].map((signal) => once(process, signal)))
  throw new Error('interrupted')
}

await requireDocker()
const folder = await mkdtemp(join(tmpdir(), 'cluster-'))
const ref = process.env.UPGRADE_FROM ?? releaseBefore()
execFileSync('sh', ['-euc', 'git archive "$0" | tar -x -C "$1"', ref, folder], { cwd: root })
const cluster = new DockerCluster(folder)
const remove = () => cluster.run('docker compose down --volumes --remove-orphans')
try {
  await remove()
  await Promise.race([main(cluster, folder), interruption()])
} catch (error) {
  process.stderr.write(`${(error as Error).stack}\nThe logs of the containers are in ${logFile}.\n`)
  await cluster.run(`docker compose logs --no-color --timestamps > ${logFile}`)
  process.exitCode = 1
} finally {
  await remove()
  await rm(folder, { recursive: true })
}
process.exit()
