import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { migrateDirectoryStore, openDirectoryStore } from '@fms/directory-store'
import { migrateFormsStore } from '@fms/forms-store'
import { additionalPublishers, waitUntilReady } from '@fms/testkit/instances'
import { startNatsServer } from '@fms/testkit/nats-server'
import { freePorts } from '@fms/testkit/ports'
import { type Service, spawnWithParent, terminate } from '@fms/testkit/processes'
import { services } from '../../scripts/services.ts'
import { readStartConfig } from '../../scripts/start-config.ts'
import { httpOperations, type LoadTarget, type Operation } from '../load/requests.ts'
import type { Side, SideName } from './processes.ts'
import { seedForms } from './seed-forms.ts'

export interface ProductOptions {
  name: Extract<SideName, 'product' | 'three'>
  /** An empty folder for everything that the services and nats-server write. */
  folder: string
  forms: number
  publishers?: number
  /** An empty database, and the engine's process. Default: SQLite files in `folder`. */
  mongodb?: { url: string; pid: number | undefined }
  operations?: readonly Operation[]
  /** Folder in which each service writes its `.cpuprofile` when it stops. */
  profiles?: string
}

/** Starts the whole system as `npm start` runs it, with the logs in files and `forms` forms in one organization. */
export const startProduct = async ({
  name,
  folder,
  forms,
  publishers = 1,
  mongodb,
  operations = httpOperations,
  profiles,
}: ProductOptions): Promise<Side & { target: LoadTarget }> => {
  const nats = await startNatsServer({ dataDir: folder })
  const [gatewayPort, ...ports] = (await freePorts(3 + publishers)) as [number, ...number[]]
  const config = readStartConfig({
    DATA_DIR: folder,
    PORT: `${gatewayPort}`,
    ...(mongodb && { DIRECTORY_STORE_URL: mongodb.url, FORMS_STORE_URL: mongodb.url }),
  })
  await Promise.all([
    migrateDirectoryStore(config.DIRECTORY_STORE_URL),
    migrateFormsStore(config.FORMS_STORE_URL),
  ])
  const account = await seedDirectory(config.DIRECTORY_STORE_URL)
  await seedForms(config.FORMS_STORE_URL, account, forms)

  const programs = services({
    config,
    internalSecret: 'a secret of the benchmark, long enough',
    natsUrls: nats.urls,
    ports,
  })
  const all = [...programs, ...additionalPublishers(programs, ports.slice(3))]
  const children = all.map((service) => ({
    name: service.name,
    child: spawnService(service, folder, profiles),
  }))
  await Promise.all(all.map((each) => waitUntilReady(each)))

  const target: LoadTarget = {
    ...account,
    baseUrl: `http://127.0.0.1:${gatewayPort}/v2`,
    forms,
    filter: 'aip-160',
  }
  return {
    name,
    operations,
    target,
    pids: () => ({
      ...Object.fromEntries(children.map(({ name, child }) => [name, [child.pid!]])),
      nats: [nats.pid],
      ...(mongodb?.pid && { mongodb: [mongodb.pid] }),
    }),
    load: (operation, connections) =>
      operation === 'events'
        ? { kind: 'events', target, natsUrl: nats.urls.events, changesPerSecond, connections }
        : { kind: 'http', operation, target, connections },
    async [Symbol.asyncDispose]() {
      await Promise.all(children.map(({ child }) => terminate(child)))
      await nats.stop()
    },
  }
}

/** The rate at which `events` changes forms. */
const changesPerSecond = 500

/** Limits that are checked and never reached. */
const highLimits = {
  RATE_LIMIT_PER_MINUTE: '100000000',
  MAX_FORMS_PER_ORGANIZATION: '100000000',
  MAX_BYTES_PER_ORGANIZATION: `${2 ** 50}`,
}

const spawnService = ({ name, args, env }: Service, folder: string, profiles?: string) => {
  const log = openSync(join(folder, `${name}.log`), 'a')
  const profiling = profiles
    ? ['--cpu-prof', '--cpu-prof-dir', profiles, '--cpu-prof-name', `${name}.cpuprofile`]
    : []
  const child = spawnWithParent({ name, args: [...profiling, ...args], env: { ...env, ...highLimits } }, log)
  closeSync(log)
  return child
}

/** Number of users, each with a key. */
const users = 64

/**
 * Creates the users, who are editors, and three organizations: one whose forms are measured, one for created forms and
 * one with large forms.
 */
const seedDirectory = async (url: string) => {
  await using directory = await openDirectoryStore(url)
  const organization = async (slug: string) =>
    (await directory.createOrganization({ slug, name: slug })).organizationId
  const organizationId = await organization('measured')
  const otherOrganizationId = await organization('created')
  const largeOrganizationId = await organization('large')
  const apiKeys: string[] = []
  for (let number = 0; number < users; number++) {
    const { userId } = await directory.createUser({ email: `bench-${number}@example.com` })
    for (const each of [organizationId, otherOrganizationId, largeOrganizationId])
      await directory.addMember({ organizationId: each, userId, role: 'editor' })
    const { key } = await directory.createKey({ userId, name: 'Benchmark', readOnly: false })
    apiKeys.push(key)
  }
  return { organizationId, otherOrganizationId, largeOrganizationId, apiKeys }
}
