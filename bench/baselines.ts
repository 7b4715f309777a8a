import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { startNatsServer } from '@fms/testkit/nats-server'
import { freePorts } from '@fms/testkit/ports'
import { terminate } from '@fms/testkit/processes'
import { bareSchema } from './bare-schema.ts'
import { draftOf, formIdOf, formNameOf, isPublished } from './forms.ts'
import { childrenOf, startProgram } from './processes.ts'
import type { Operation, Place } from './requests.ts'
import type { Side } from './side.ts'

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

/** B0 with so many forms, and B1 and B2 in front of the same process. Without nginx on the PATH there is no B2. */
export const startBareForms = async (folder: string, forms: number): Promise<Side[]> => {
  const file = join(folder, 'bare.db')
  const place = seed(file, forms)
  const bare = await startProgram<{ origin: string }>('bare-forms.ts', file)
  const proxy = await startProgram<{ origin: string }>('bare-proxy.ts', bare.told.origin)
  const nginx = await startNginx(join(folder, 'nginx'), new URL(bare.told.origin).host)

  const side = (
    name: 'B0' | 'B1' | 'B2',
    origin: string,
    pids: () => Record<string, number[]>,
    end: () => Promise<void>,
  ): Side => {
    const there = { ...place, baseUrl: `${origin}/v2` }
    return {
      name,
      operations,
      pids: () => ({ bare: [bare.child.pid!], ...pids() }),
      load: (operation, connections) => ({ kind: 'http', operation, place: there, connections }),
      [Symbol.asyncDispose]: end,
    }
  }
  return [
    side(
      'B0',
      bare.told.origin,
      () => ({}),
      () => terminate(bare.child),
    ),
    side(
      'B1',
      proxy.told.origin,
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

const seed = (file: string, forms: number): Omit<Place, 'baseUrl'> => {
  const organizationId = formIdOf(-1)
  using database = new DatabaseSync(file)
  database.exec(bareSchema)
  database.exec('BEGIN')
  const insert = database.prepare('INSERT INTO forms VALUES (?, ?, ?, ?, ?)')
  const insertLive = database.prepare('INSERT INTO liveRevisions VALUES (?, ?, ?, ?)')
  const begun = Date.now() - forms * 1000
  for (let number = 0; number < forms; number++) {
    const [id, updateTime] = [formIdOf(number), begun + number * 1000]
    const form = { ...served(id), ...draftOf(number) }
    insert.run(id, organizationId, formNameOf(number), updateTime, JSON.stringify(form))
    if (!isPublished(number, forms)) continue
    const path = `${form.path}/revisions/${id}`
    const revision = { path, alternateIds: ['live'], createTime: form.createTime, form }
    insertLive.run(id, organizationId, `"${number}"`, JSON.stringify(revision))
  }
  database.exec('COMMIT')
  return { organizationId, otherOrganizationId: formIdOf(-2), forms, apiKeys: ['none'], filter: 'plain' }
}

/** What the product adds to a draft, so that documents are equally long. */
const served = (id: string) => ({
  path: `organizations/${formIdOf(-1)}/forms/${id}`,
  publicId: 'abcdefghij',
  publicUrl: 'http://127.0.0.1:8080/f/abcdefghij',
  createTime: new Date(0).toISOString(),
  updateTime: new Date(0).toISOString(),
  live: false,
  replyCount: 0,
})

/** J: a nats-server of its own with the product's settings, and a worker. */
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

interface Nginx {
  child: ChildProcess
  origin: string
  pids(): number[]
}

const startNginx = async (folder: string, upstreamHost: string): Promise<Nginx | undefined> => {
  const command = findNginx()
  if (!command) return undefined
  mkdirSync(folder, { recursive: true })
  const [port] = (await freePorts(1)) as [number]
  const origin = `http://127.0.0.1:${port}`
  const configFile = join(folder, 'nginx.conf')
  writeFileSync(configFile, nginxConfig(folder, port, upstreamHost))
  const log = openSync(join(folder, 'log'), 'a')
  const child = spawn(command, ['-c', configFile, '-e', 'stderr'], {
    stdio: ['ignore', log, log],
    detached: true,
  })
  process.once('exit', () => child.kill())
  const answers = () =>
    fetch(origin).then(
      () => true,
      () => false,
    )
  while (!(await answers())) {
    if (child.exitCode !== null)
      throw new Error(`nginx ended with exit code ${child.exitCode}; see ${folder}/log`)
    await delay(20)
  }
  return { child, origin, pids: () => [child.pid!, ...childrenOf(child.pid!)] }
}

/** On the PATH, or where Linux keeps the programs of administrators. */
const findNginx = (): string | undefined =>
  [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
    .map((folder) => join(folder, 'nginx'))
    .find((file) => existsSync(file))

const nginxConfig = (folder: string, port: number, upstreamHost: string): string => `
daemon off;
pid ${folder}/pid;
worker_processes auto;
events { worker_connections 1024; }
http {
  access_log off;
  keepalive_requests 100000000;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  upstream bare { server ${upstreamHost}; keepalive 256; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${port} backlog=1024;
    location / {
      proxy_pass http://bare;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
    }
  }
}
`
