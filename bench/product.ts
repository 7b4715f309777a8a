import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { migrateDirectoryStore, openDirectoryStore } from '@fms/directory-store'
import { migrateFormsStore } from '@fms/forms-store'
import { additionalPublishers, waitUntilReady } from '@fms/testkit/instances'
import { startNatsServer } from '@fms/testkit/nats-server'
import { freePorts } from '@fms/testkit/ports'
import type { Service } from '@fms/testkit/processes'
import { terminate } from '@fms/testkit/processes'
import { services } from '../scripts/services.ts'
import { readStartConfig } from '../scripts/start-config.ts'
import { spawnNode } from './processes.ts'
import { httpOperations, type Operation, type Place } from './requests.ts'
import { seedForms } from './seed-forms.ts'
import type { Side, SideName } from './side.ts'

export interface ProductOptions {
  name: Extract<SideName, 'product' | 'three'>
  /** Empty; for everything that it writes. */
  folder: string
  forms: number
  publishers?: number
  /** `mongodb://…`, an empty database; without it, SQLite files in `folder`. */
  storeUrl?: string
  operations?: readonly Operation[]
  /** Where each service writes its `.cpuprofile` when it stops. */
  profiles?: string
}

/** The whole system as `npm start` runs it, each log in a file, with so many forms of one organization. */
export const startProduct = async ({
  name,
  folder,
  forms,
  publishers = 1,
  storeUrl,
  operations = httpOperations,
  profiles,
}: ProductOptions): Promise<Side & { place: Place }> => {
  const nats = await startNatsServer({ dataDir: folder })
  const [gatewayPort, ...ports] = (await freePorts(3 + publishers)) as [number, ...number[]]
  const config = readStartConfig({
    DATA_DIR: folder,
    PORT: `${gatewayPort}`,
    ...(storeUrl && { DIRECTORY_STORE_URL: storeUrl, FORMS_STORE_URL: storeUrl }),
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
  await Promise.all(all.map(waitUntilReady))

  const place: Place = {
    ...account,
    baseUrl: `http://127.0.0.1:${gatewayPort}/v2`,
    forms,
    filter: 'aip-160',
  }
  return {
    name,
    operations,
    place,
    pids: () => ({
      ...Object.fromEntries(children.map(({ name, child }) => [name, [child.pid!]])),
      nats: [nats.pid],
    }),
    load: (operation, connections) => ({ kind: 'http', operation, place, connections }),
    async [Symbol.asyncDispose]() {
      await Promise.all(children.map(({ child }) => terminate(child)))
      await nats.stop()
    },
  }
}

/** Everything is counted, and no limit is ever reached. */
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
  const child = spawnNode([...profiling, ...args], log, { ...env, ...highLimits })
  closeSync(log)
  return child
}

/** As many as the most connections that have a key of their own. */
const users = 64

/**
 * Editors with a key each, and three organizations: one is measured, one takes the forms that are created, one holds
 * the forms that fill pages.
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
