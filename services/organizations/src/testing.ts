import { randomUUID } from 'node:crypto'
import { createPageTokens } from '@fms/aip'
import { type Identity, identityHeader, type Role, type ServiceIdentity } from '@fms/contracts'
import {
  type DirectoryStore,
  type NewApiKey,
  type NewOrganization,
  openDirectoryStore,
  type StoredOrganization,
} from '@fms/directory-store'
import { type App, createIdentitySigner } from '@fms/service-kit'
import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import { type Logger, pino } from 'pino'
import { createOrganizationsApp } from './app.ts'

const secret = 'a secret of the tests, long enough'

/** A caller with a key. */
export interface Caller {
  identity: Identity
  userId: string
  keyId: string
  /** The text of the key. */
  key: string
}

/** The service with a SQLite store in memory. */
export interface OrganizationsService extends AsyncDisposable {
  app: App
  directory: DirectoryStore
  /** The clock of the service and its store, which tests set. */
  clock: { now: Date }
  /** Sends a request with the identity token of a user or of the gateway. */
  send(from: Identity | ServiceIdentity, request: InjectOptions): Promise<LightMyRequestResponse>
  /** Sends `GET url` with the identity token of a user. */
  get(userId: string, url: string): Promise<LightMyRequestResponse>
  /** Functions that fill the store. E-mail addresses and slugs are random by default. */
  given: {
    /** @returns the user's id. */
    user(): Promise<string>
    organization(fields?: Partial<NewOrganization>): Promise<StoredOrganization>
    member(userId: string, organization: StoredOrganization, role?: Role): Promise<void>
    key(key: NewApiKey): ReturnType<DirectoryStore['createKey']>
    /** A new key and the identity of requests with it; by default of a new user. */
    caller(fields?: Partial<NewApiKey>): Promise<Caller>
  }
}

/** The identity of a user with a key that is in no store. */
export const identityOf = (userId: string): Identity => ({
  userId,
  readOnly: false,
  key: { id: randomUUID(), prefix: 'abcd1234' },
})

export const startOrganizations = async (
  logger: Logger = pino({ level: 'silent' }),
): Promise<OrganizationsService> => {
  const clock = { now: new Date('2026-11-20T09:30:00.000Z') }
  const now = () => clock.now
  const directory = await openDirectoryStore('sqlite::memory:', now)
  const app = createOrganizationsApp({
    logger,
    internalSecrets: [secret],
    directory,
    pageTokens: createPageTokens([secret]),
    now,
  })
  const sign = createIdentitySigner(secret)
  const send: OrganizationsService['send'] = async (from, request) =>
    app.inject({ ...request, headers: { [identityHeader]: sign(from), ...request.headers } })

  return {
    app,
    directory,
    clock,
    send,
    get: (userId, url) => send(identityOf(userId), { url }),
    given: {
      user: async () => (await directory.createUser({ email: `${randomUUID()}@example.com` })).userId,
      organization: (fields = {}) =>
        directory.createOrganization({ name: 'Acme', slug: `o-${randomUUID()}`, ...fields }),
      member: async (userId, { organizationId }, role = 'viewer') => {
        await directory.addMember({ userId, organizationId, role })
      },
      key: (key) => directory.createKey(key),
      caller: async (fields = {}) => {
        const userId =
          fields.userId ?? (await directory.createUser({ email: `${randomUUID()}@example.com` })).userId
        const { key, apiKey } = await directory.createKey({ ...fields, userId })
        const { keyId, prefix, readOnly } = apiKey
        return { identity: { userId, readOnly, key: { id: keyId, prefix } }, userId, keyId, key }
      },
    },
    [Symbol.asyncDispose]: async () => {
      await app.close()
      await directory.close()
    },
  }
}
