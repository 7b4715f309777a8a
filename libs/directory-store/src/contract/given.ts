import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach } from 'vitest'
import type { DirectoryStore } from '../directory-store.ts'
import type { NewMember, NewOrganization } from '../inputs.ts'
import type { StoredOrganization, User } from '../resources.ts'

/** Opens an empty store that takes createTimes from `now`. */
export type OpenStore = (now: () => Date) => Promise<DirectoryStore>

export interface ContractOptions {
  /** Properties run fewer cases, for engines that are slower than MongoDB. */
  slow?: boolean
}

/** Time at the start of every test, in milliseconds since the epoch. */
export const start = Date.parse('2026-11-20T09:30:00.000Z')

export const lowerCaseUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The fixture of a test: an empty store, a clock that only the test changes, and functions that fill the store. */
export interface Directory {
  /** The store of the current test. */
  store: () => DirectoryStore
  /** The current time for the store, in milliseconds since the epoch; `start` at the beginning of each test. */
  clock: { time: number }
  /** Stores a new user, by default with a random e-mail address. */
  givenUser: (email?: string) => Promise<User>
  /** Stores a new organization, by default with a random slug. */
  givenOrganization: (fields?: Partial<NewOrganization>) => Promise<StoredOrganization>
  /** Stores a new user as the only member of a new organization, by default as an editor. */
  givenMember: (
    role?: NewMember['role'],
  ) => Promise<{ userId: string; organization: StoredOrganization; organizationId: string }>
  /** The organizations of a user's memberships, in their order. */
  organizationsOf: (userId: string) => Promise<StoredOrganization[]>
}

/** Opens a store for each test of the enclosing `describe`, and closes it after the test. */
export const openDirectory = (open: OpenStore): Directory => {
  let current: DirectoryStore
  const clock = { time: start }

  beforeEach(async () => {
    clock.time = start
    current = await open(() => new Date(clock.time))
  })
  afterEach(() => current.close())

  const store = () => current

  const givenUser: Directory['givenUser'] = (email = `${randomUUID()}@example.com`) =>
    store().createUser({ email })

  const givenOrganization: Directory['givenOrganization'] = (fields = {}) =>
    store().createOrganization({ name: 'Acme', slug: `o-${randomUUID()}`, ...fields })

  const givenMember: Directory['givenMember'] = async (role = 'editor') => {
    const [{ userId }, organization] = [await givenUser(), await givenOrganization()]
    const { organizationId } = organization
    await store().addMember({ organizationId, userId, role })
    return { userId, organization, organizationId }
  }

  const organizationsOf: Directory['organizationsOf'] = async (userId) =>
    (await store().listMemberships(userId)).map(({ organization }) => organization)

  return { store, clock, givenUser, givenOrganization, givenMember, organizationsOf }
}
