import { randomUUID } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { type Form, type FormDraft, formPath } from '@fms/contracts'
import { migrateDirectoryStore, openDirectoryStore } from '@fms/directory-store'
import { type FormsStore, makePublicId, migrateFormsStore, openFormsStore } from '@fms/forms-store'
import { startNatsServer } from '../scripts/nats-server.ts'
import { freePorts } from '../scripts/ports.ts'
import { type Service, services } from '../scripts/services.ts'
import { readStartConfig } from '../scripts/start-config.ts'
import { terminate } from '../scripts/supervise.ts'
import { furtherPublishers, untilReady } from '../scripts/testing/instances.ts'
import { draftOf, formIdOf, isPublished, largeDraft } from './forms.ts'
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
  await seedForms(config.FORMS_STORE_URL, account, forms)

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

/** As many as the most connections that have a key of their own. */
const users = 64
/** More than fill a page. */
const largeForms = 8

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

/** Through the import of the store, many at a time. Each was changed a second after the one before. */
const seedForms = async (
  url: string,
  { organizationId, largeOrganizationId }: { organizationId: string; largeOrganizationId: string },
  count: number,
) => {
  await using store = await openFormsStore(url)
  const atOnce = importsAtOnce[url.startsWith('sqlite:') ? 'sqlite' : 'mongodb']
  const begun = Date.now() - count * 1000
  for (let from = 0; from < count; from += atOnce) {
    const numbers = Array.from({ length: Math.min(atOnce, count - from) }, (_, index) => from + index)
    await Promise.all(
      numbers.map((number) => {
        const formId = formIdOf(number)
        const time = new Date(begun + number * 1000).toISOString()
        const published = isPublished(number, count)
        return importForm(store, { organizationId, formId, time, draft: draftOf(number), published })
      }),
    )
  }
  for (let number = 0; number < largeForms; number++) {
    const time = new Date(begun).toISOString()
    const formId = randomUUID()
    await importForm(store, {
      organizationId: largeOrganizationId,
      formId,
      time,
      draft: largeDraft(),
      published: false,
    })
  }
}

interface Seed {
  organizationId: string
  formId: string
  time: string
  draft: FormDraft
  published: boolean
}

const importForm = (store: FormsStore, { organizationId, formId, time, draft, published }: Seed) => {
  const publicId = makePublicId()
  const revisionId = randomUUID()
  const form = {
    ...draft,
    path: formPath({ organizationId, formId }),
    publicId,
    publicUrl: `http://127.0.0.1:8080/f/${publicId}`,
    createTime: time,
    updateTime: time,
    live: true,
    replyCount: 0,
  } as Form
  return store.importForm({
    organizationId,
    formId,
    publicId,
    createTime: time,
    updateTime: time,
    version: 1,
    draft,
    revisionNumber: published ? 1 : 0,
    live: published ? { revisionId, number: 1 } : null,
    revisions: published ? [{ revisionId, number: 1, commandId: randomUUID(), createTime: time, form }] : [],
    replyCount: 0,
    replyIds: [],
  })
}
