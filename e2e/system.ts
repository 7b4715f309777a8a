import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Role } from '@fms/contracts'
import { migrateDirectoryStore, openDirectoryStore } from '@fms/directory-store'
import { migrateFormsStore } from '@fms/forms-store'
import { additionalPublishers, waitUntilReady } from '@fms/testkit/instances'
import { startMongo } from '@fms/testkit/mongodb'
import { type NatsServer, startNatsServer } from '@fms/testkit/nats-server'
import { freePorts } from '@fms/testkit/ports'
import { spawnWithParent, terminate } from '@fms/testkit/processes'
import { services } from '../scripts/services.ts'
import { readStartConfig } from '../scripts/start-config.ts'
import { checkAnswers } from './openapi-answers.ts'
import { createLeakWatch, type LeakWatch } from './security/secret-scanner.ts'

const internalSecret = 'a secret of the tests, long enough'

/** A key, and the organization that its user is a member of. */
export interface Account {
  apiKey: string
  userId: string
  organizationId: string
  slug: string
  /** Path of the organization's forms, under `/v2`. */
  forms: string
}

/** What an answer holds that tests look at. */
export interface Answer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: bodies are looked into member by member
  body: any
}

/** The whole system as real processes on a folder of its own: NATS, three services and as many publishers as asked. */
export interface System extends AsyncDisposable {
  baseUrl: string
  dataDir: string
  nats: NatsServer
  /** Looks at every line that a process writes; disposing of the system fails where one holds a secret. */
  leaks: LeakWatch
  directoryStoreUrl: string
  /** Where each process listens, for requests past the gateway. */
  urls: Record<string, string>
  processes: Map<string, ChildProcess>
  start(name: string): Promise<void>
  /** Ends a process by a signal and waits until it is gone. */
  end(name: string, signal: NodeJS.Signals): Promise<void>
  /** A new user with a key, in a new organization or in that of `in`. */
  account(options?: { role?: Role; readOnly?: boolean; in?: Account }): Promise<Account>
  call(
    account: Pick<Account, 'apiKey'>,
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>
  /** Throws where an answer of the gateway is not as its OpenAPI document says; `call` does so by itself. */
  check(method: string, path: string, answer: Answer): void
}

export const startSystem = async ({
  publishers = 1,
  env = {},
}: {
  publishers?: number
  env?: NodeJS.ProcessEnv
} = {}): Promise<System> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'e2e-'))
  const nats = await startNatsServer({ dataDir })
  const stores = await startStores()
  const config = readStartConfig({ DATA_DIR: dataDir, LOG_LEVEL: 'info', ...stores.env, ...env })
  const [gatewayPort, ...ports] = (await freePorts(4 + publishers - 1)) as [number, ...number[]]
  config.PORT = gatewayPort
  const programs = services({
    config: { ...config, ...env } as typeof config,
    internalSecret,
    natsUrls: nats.urls,
    ports,
    // Tests send many requests of one user at once.
  }).map((program) => ({ ...program, env: { ...program.env, MAX_REQUESTS_PER_USER: '0', ...env } }))
  const leaks = createLeakWatch({ INTERNAL_SECRET: internalSecret, ...passwordsOf(nats) })
  const all = [...programs, ...additionalPublishers(programs, ports.slice(3))]
  const processes = new Map<string, ChildProcess>()

  const start = async (name: string) => {
    const service = all.find((each) => each.name === name)!
    const child = spawnWithParent(service, 'pipe')
    leaks.follow(name, child)
    processes.set(name, child)
    await waitUntilReady(service)
  }
  await Promise.all(all.map(({ name }) => start(name)))

  const baseUrl = `${all.find(({ name }) => name === 'gateway')!.url}/v2`
  const directoryStoreUrl = config.DIRECTORY_STORE_URL
  const check = checkAnswers(await (await fetch(`${baseUrl}/openapi.json`)).json())
  const system: System = {
    baseUrl,
    dataDir,
    nats,
    leaks,
    directoryStoreUrl,
    urls: Object.fromEntries(all.map(({ name, url }) => [name, url])),
    processes,
    start,
    end: async (name, signal) => {
      const child = processes.get(name)!
      const exited = once(child, 'exit')
      child.kill(signal)
      await exited
    },
    account: (options) => newAccount(directoryStoreUrl, options),
    check,
    call: async (account, method, path, body, headers) => {
      const answer = await call(`${baseUrl}${path}`, account, method, body, headers)
      check(method, path, answer)
      return answer
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...processes.values()].map(terminate))
      await system.nats.stop()
      await stores.stop()
      for (const line of readFileSync(join(dataDir, 'nats/log'), 'utf8').split('\n')) leaks.look('nats', line)
      rmSync(dataDir, { recursive: true, force: true })
      await leaks.assertNone()
    },
  }
  return system
}

const passwordsOf = ({ urls }: NatsServer) =>
  Object.fromEntries(
    Object.entries(urls).map(([user, url]) => [`the NATS password of ${user}`, new URL(url).password]),
  )

/** The embedded stores, or those of the engine that E2E_STORE names: `mongodb`. */
const startStores = async () => {
  if (process.env.E2E_STORE !== 'mongodb') return { env: {}, stop: async () => {} }
  const { url, [Symbol.asyncDispose]: stop } = await startMongo(process.env, { quick: true })
  await Promise.all([migrateDirectoryStore(url), migrateFormsStore(url)])
  return { env: { DIRECTORY_STORE_URL: url, FORMS_STORE_URL: url }, stop }
}

let accounts = 0

export const newAccount = async (
  directoryStoreUrl: string,
  { role = 'editor', readOnly = false, in: home }: { role?: Role; readOnly?: boolean; in?: Account } = {},
): Promise<Account> => {
  const number = ++accounts
  await using directory = await openDirectoryStore(directoryStoreUrl)
  const { userId } = await directory.createUser({ email: `user-${number}-${process.pid}@example.com` })
  const { organizationId, slug } =
    home ??
    (await directory.createOrganization({
      slug: `org-${number}-${process.pid}`,
      name: `Organization ${number}`,
    }))
  await directory.addMember({ organizationId, userId, role })
  const { key } = await directory.createKey({ userId, name: 'Test', readOnly })
  return { apiKey: key, userId, organizationId, slug, forms: `/organizations/${slug}/forms` }
}

const call = async (
  url: string,
  { apiKey }: Pick<Account, 'apiKey'>,
  method: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> => {
  const response = await fetch(url, {
    method,
    headers: {
      ...(apiKey && { 'x-api-key': apiKey }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  }
}

/** A form that can be published. */
export const publishable = (fields: object = {}) => ({
  name: 'Customer feedback',
  steps: [
    { type: 'start', key: 'hello', title: 'How was it?' },
    { type: 'rating', key: 'stars', title: 'Your rating', max: 5 },
    { type: 'end', key: 'thanks', title: 'Thank you' },
  ],
  ...fields,
})
