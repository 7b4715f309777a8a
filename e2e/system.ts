import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StepInput } from '@fms/client'
import type { Role } from '@fms/contracts'
import { migrateDirectoryStore, openDirectoryStore } from '@fms/directory-store'
import { migrateFormsStore } from '@fms/forms-store'
import { additionalPublishers, waitUntilReady } from '@fms/testkit/instances'
import { startMongo } from '@fms/testkit/mongodb'
import { type NatsServer, startNatsServer } from '@fms/testkit/nats-server'
import { freePorts } from '@fms/testkit/ports'
import { spawnWithParent, terminate } from '@fms/testkit/processes'
import { services } from '../scripts/services.ts'
import { readStartConfig, type StartConfig } from '../scripts/start-config.ts'
import { type ApiResponse, createResponseCheck } from './openapi-responses.ts'
import { createSecretScanner, type SecretScanner } from './security/secret-scanner.ts'

export type { ApiResponse }

const internalSecret = 'a secret of the tests, long enough'

/** A user with an API key in one organization. */
export interface Account {
  apiKey: string
  userId: string
  organizationId: string
  slug: string
  /** Path of the organization's forms, without `/v2`. */
  forms: string
}

/** Where a system is. */
export interface Addresses {
  baseUrl: string
  directoryStoreUrl: string
  formsStoreUrl: string
  /** Base URL of each process by its name, for requests that bypass the gateway. */
  urls: Record<string, string>
  dataDir: string
}

/** A system that runs, and requests to it. */
export interface RunningSystem extends Addresses {
  /** Creates a user with a key, in a new organization or in that of `in`. */
  account(options?: { role?: Role; readOnly?: boolean; in?: Account }): Promise<Account>
  /** Sends a request to the gateway. @throws {Error} when the response does not match the OpenAPI document. */
  call(
    account: Pick<Account, 'apiKey'>,
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<ApiResponse>
  /** The check of `call`, for responses to requests that a test sends in another way. */
  check(method: string, path: string, response: ApiResponse): void
}

/** The whole system as real processes with its own data folder: NATS, three services and one or more publishers. */
export interface System extends RunningSystem, AsyncDisposable {
  nats: NatsServer
  /** Scans every line of output. Disposing of the system throws when a line contained a secret. */
  secretScanner: SecretScanner
  processes: Map<string, ChildProcess>
  start(name: string): Promise<void>
  /** Sends a signal to a process and waits until it has exited. */
  end(name: string, signal: NodeJS.Signals): Promise<void>
}

/** Of the first system: to build and compile the document takes half a second, and it is the same for all. */
let responseCheck: ReturnType<typeof createResponseCheck> | undefined

/** Connects to a system that runs. */
export const connectTo = async (addresses: Addresses): Promise<RunningSystem> => {
  const { baseUrl, directoryStoreUrl } = addresses
  responseCheck ??= createResponseCheck(await (await fetch(`${baseUrl}/openapi.json`)).json())
  const check = responseCheck
  return {
    ...addresses,
    account: (options) => newAccount(directoryStoreUrl, options),
    check,
    call: async (account, method, path, body, headers) => {
      const response = await call(`${baseUrl}${path}`, account, method, body, headers)
      check(method, path, response)
      return response
    },
  }
}

/** @param store `mongodb` for stores on MongoDB. Default: that of the variable E2E_STORE, or SQLite files. */
export const startSystem = async ({
  publishers = 1,
  env = {},
  store = process.env.E2E_STORE,
}: {
  publishers?: number
  env?: NodeJS.ProcessEnv
  store?: string | undefined
} = {}): Promise<System> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'e2e-'))
  const nats = await startNatsServer({ dataDir })
  const stores = await startStores(env, store)
  const config = readStartConfig({ DATA_DIR: dataDir, LOG_LEVEL: 'info', ...stores.env, ...env })
  const programs = await programsOf({ ...config, ...env } as StartConfig, nats, publishers, env)
  const secretScanner = createSecretScanner({ INTERNAL_SECRET: internalSecret, ...passwordsOf(nats) })
  const processes = new Map<string, ChildProcess>()

  const start = async (name: string) => {
    const program = programs.find((each) => each.name === name)!
    const child = spawnWithParent(program, 'pipe')
    secretScanner.follow(name, child)
    processes.set(name, child)
    await waitUntilReady(program)
  }
  await Promise.all(programs.map(({ name }) => start(name)))

  const urls = Object.fromEntries(programs.map(({ name, url }) => [name, url]))
  const running = await connectTo({
    baseUrl: `${urls.gateway}/v2`,
    directoryStoreUrl: config.DIRECTORY_STORE_URL,
    formsStoreUrl: config.FORMS_STORE_URL,
    urls,
    dataDir,
  })
  const system: System = {
    ...running,
    nats,
    secretScanner,
    processes,
    start,
    end: async (name, signal) => {
      const child = processes.get(name)!
      const exited = once(child, 'exit')
      child.kill(signal)
      await exited
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...processes.values()].map(terminate))
      await system.nats.stop()
      await stores.stop()
      for (const line of readFileSync(join(dataDir, 'nats/log'), 'utf8').split('\n'))
        secretScanner.scan('nats', line)
      rmSync(dataDir, { recursive: true, force: true })
      await secretScanner.assertNoSecrets()
    },
  }
  return system
}

/** The services and further publishers, on free ports. @param env overrides variables of every service. */
const programsOf = async (
  config: StartConfig,
  nats: NatsServer,
  publishers: number,
  env: NodeJS.ProcessEnv,
) => {
  const [gatewayPort, ...ports] = (await freePorts(4 + publishers - 1)) as [number, ...number[]]
  const programs = services({
    config: { ...config, PORT: gatewayPort },
    internalSecret,
    natsUrls: nats.urls,
    ports,
    // No limit: tests send many concurrent requests of one user.
  }).map((program) => ({ ...program, env: { ...program.env, MAX_REQUESTS_PER_USER: '0', ...env } }))
  return [...programs, ...additionalPublishers(programs, ports.slice(3))]
}

const passwordsOf = ({ urls }: NatsServer) =>
  Object.fromEntries(
    Object.entries(urls).map(([user, url]) => [`the NATS password of ${user}`, new URL(url).password]),
  )

/** A MongoDB with migrated stores, unless the system has SQLite files or `env` names a store. */
const startStores = async (env: NodeJS.ProcessEnv, store: string | undefined) => {
  if (store !== 'mongodb' || env.FORMS_STORE_URL) return { env: {}, stop: async () => {} }
  const { url, [Symbol.asyncDispose]: stop } = await startMongo()
  await Promise.all([migrateDirectoryStore(url), migrateFormsStore(url)])
  return { env: { DIRECTORY_STORE_URL: url, FORMS_STORE_URL: url }, stop }
}

let accounts = 0

/**
 * Creates a user with a key directly in the directory store.
 *
 * @param open `openDirectoryStore`, maybe of another release.
 */
export const newAccount = async (
  directoryStoreUrl: string,
  { role = 'editor', readOnly = false, in: existing }: { role?: Role; readOnly?: boolean; in?: Account } = {},
): Promise<Account> => {
  const number = ++accounts
  await using directory = await openDirectoryStore(directoryStoreUrl)
  const { userId } = await directory.createUser({ email: `user-${number}-${process.pid}@example.com` })
  const { organizationId, slug } =
    existing ??
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
): Promise<ApiResponse> => {
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

const publishableSteps: StepInput[] = [
  { type: 'start', key: 'hello', title: 'How was it?' },
  { type: 'rating', key: 'stars', title: 'Your rating', max: 5 },
  { type: 'end', key: 'thanks', title: 'Thank you' },
]

/** The fields of a publishable form. */
export const publishable = (fields: object = {}) => ({
  name: 'Customer feedback',
  steps: publishableSteps,
  ...fields,
})
