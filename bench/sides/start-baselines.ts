import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { startNatsServer } from '@fms/testkit/nats-server'
import { terminate } from '@fms/testkit/processes'
import { bareSchema } from '../data/bare-schema.ts'
import { draftOf, formIdOf, formNameOf, isPublished } from '../data/generated-forms.ts'
import type { LoadTarget, Operation } from '../load/requests.ts'
import { startProgram } from './processes.ts'
import type { Side } from './side.ts'
import { startNginx } from './start-nginx.ts'

const operations: readonly Operation[] = [
  'get',
  'live',
  'live 304',
  'list',
  'filtered list',
  'search',
  'create',
  'patch',
]

/** Starts B0 with `forms` forms, and B1 and B2 in front of the same process. B2 is left out when nginx is not installed. */
export const startBareForms = async (folder: string, forms: number): Promise<Side[]> => {
  const file = join(folder, 'bare.db')
  const data = seed(file, forms)
  const bare = await startProgram<{ origin: string }>('bare-server.ts', file)
  const proxy = await startProgram<{ origin: string }>('bare-proxy.ts', bare.message.origin)
  const nginx = await startNginx(join(folder, 'nginx'), new URL(bare.message.origin).host)

  const side = (
    name: 'B0' | 'B1' | 'B2',
    origin: string,
    pids: () => Record<string, number[]>,
    end: () => Promise<void>,
  ): Side => {
    const target = { ...data, baseUrl: `${origin}/v2` }
    return {
      name,
      operations,
      pids: () => ({ bare: [bare.child.pid!], ...pids() }),
      load: (operation, connections) => ({ kind: 'http', operation, target, connections }),
      [Symbol.asyncDispose]: end,
    }
  }
  return [
    side(
      'B0',
      bare.message.origin,
      () => ({}),
      () => terminate(bare.child),
    ),
    side(
      'B1',
      proxy.message.origin,
      () => ({ proxy: [proxy.child.pid!] }),
      () => terminate(proxy.child),
    ),
    ...(nginx
      ? [
          side(
            'B2',
            nginx.origin,
            () => ({ nginx: nginx.pids() }),
            () => terminate(nginx.child),
          ),
        ]
      : []),
  ]
}

const seed = (file: string, forms: number): Omit<LoadTarget, 'baseUrl'> => {
  const organizationId = formIdOf(-1)
  using database = new DatabaseSync(file)
  database.exec(bareSchema)
  database.exec('BEGIN')
  const insert = database.prepare('INSERT INTO forms VALUES (?, ?, ?, ?, ?)')
  const insertLive = database.prepare('INSERT INTO liveRevisions VALUES (?, ?, ?, ?)')
  const startTime = Date.now() - forms * 1000
  for (let number = 0; number < forms; number++) {
    const [id, updateTime] = [formIdOf(number), startTime + number * 1000]
    const form = { ...serverOwnedFields(id), ...draftOf(number) }
    insert.run(id, organizationId, formNameOf(number), updateTime, JSON.stringify(form))
    if (!isPublished(number, forms)) continue
    const path = `${form.path}/revisions/${id}`
    const revision = { path, alternateIds: ['live'], createTime: form.createTime, form }
    insertLive.run(id, organizationId, `"${number}"`, JSON.stringify(revision))
  }
  database.exec('COMMIT')
  return { organizationId, otherOrganizationId: formIdOf(-2), forms, apiKeys: ['none'], filter: 'plain' }
}

/** The fields that the product adds to a draft, so that documents are equally long. */
const serverOwnedFields = (id: string) => ({
  path: `organizations/${formIdOf(-1)}/forms/${id}`,
  publicId: 'abcdefghij',
  publicUrl: 'http://127.0.0.1:8080/f/abcdefghij',
  createTime: new Date(0).toISOString(),
  updateTime: new Date(0).toISOString(),
  live: false,
  replyCount: 0,
})

/** Starts J: a nats-server with the product's settings, and a worker. */
export const startRoundTrips = async (folder: string): Promise<Side> => {
  const nats = await startNatsServer({ dataDir: folder })
  const { child } = await startProgram('round-trip-worker.ts', nats.urls.publisher)
  return {
    name: 'J',
    operations: ['publish'],
    pids: () => ({ nats: [nats.pid], worker: [child.pid!] }),
    load: (_operation, inFlight) => ({ kind: 'round trips', natsUrl: nats.urls.gateway, inFlight }),
    async [Symbol.asyncDispose]() {
      await terminate(child)
      await nats.stop()
    },
  }
}
