import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { migrateDirectoryStore, openDirectoryStore } from '@fms/directory-store'
import { makePublicId, migrateFormsStore, openFormsStore } from '@fms/forms-store'
import { startNatsServer } from '../scripts/nats-server.ts'
import { freePorts } from '../scripts/ports.ts'
import { type Service, services } from '../scripts/services.ts'
import { readStartConfig } from '../scripts/start-config.ts'
import { terminate } from '../scripts/supervise.ts'
import { furtherPublishers, untilReady } from '../scripts/testing/instances.ts'
import { draftOf, formIdOf } from './forms.ts'
import { spawnNode } from './processes.ts'
import { httpOperations, type Operation, type Place } from './requests.ts'
import type { Side, SideName } from './side.ts'

/** Imports under way at once: SQLite commits many together, MongoDB has so many connections. */
const importsAtOnce = { sqlite: 512, mongodb: 32 }

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
  await seedForms(config.FORMS_STORE_URL, account.organizationId, forms)

  const programs = services({
    config,
    internalSecret: 'a secret of the benchmark, long enough',
    natsUrls: nats.urls,
    ports,
  })
  const all = [...programs, ...furtherPublishers(programs, ports.slice(3))]
  const children = all.map((service) => ({
    name: service.name,
    child: spawnService(service, folder, profiles),
  }))
  await Promise.all(all.map(untilReady))

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

/** Nothing here weighs on the service but the limit, which is counted and never reached. */
const highRateLimit = { RATE_LIMIT_PER_MINUTE: '100000000' }

const spawnService = ({ name, args, env }: Service, folder: string, profiles?: string) => {
  const log = openSync(join(folder, `${name}.log`), 'a')
  const profiling = profiles
    ? ['--cpu-prof', '--cpu-prof-dir', profiles, '--cpu-prof-name', `${name}.cpuprofile`]
    : []
  const child = spawnNode([...profiling, ...args], log, { ...env, ...highRateLimit })
  closeSync(log)
  return child
}

/** An editor with a key, and two organizations: one is measured, the other takes the forms that are created. */
const seedDirectory = async (url: string) => {
  await using directory = await openDirectoryStore(url)
  const { userId } = await directory.createUser({ email: 'bench@example.com' })
  const memberOf = async (slug: string) => {
    const { organizationId } = await directory.createOrganization({ slug, name: slug })
    await directory.addMember({ organizationId, userId, role: 'editor' })
    return organizationId
  }
  const organizationId = await memberOf('measured')
  const otherOrganizationId = await memberOf('created')
  const { key } = await directory.createKey({ userId, name: 'Benchmark', readOnly: false })
  return { organizationId, otherOrganizationId, apiKey: key }
}

/** Through the import of the store, many at a time. Each was changed a second after the one before. */
const seedForms = async (url: string, organizationId: string, count: number) => {
  await using store = await openFormsStore(url)
  const atOnce = importsAtOnce[url.startsWith('sqlite:') ? 'sqlite' : 'mongodb']
  const begun = Date.now() - count * 1000
  for (let from = 0; from < count; from += atOnce) {
    const numbers = Array.from({ length: Math.min(atOnce, count - from) }, (_, index) => from + index)
    await Promise.all(
      numbers.map((number) => {
        const time = new Date(begun + number * 1000).toISOString()
        return store.importForm({
          organizationId,
          formId: formIdOf(number),
          publicId: makePublicId(),
          createTime: time,
          updateTime: time,
          version: 1,
          draft: draftOf(number),
          revisionNumber: 0,
          live: null,
          revisions: [],
          replyCount: 0,
          replyIds: [],
        })
      }),
    )
  }
}
