import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach } from 'vitest'
import type { DirectoryStore, StoredOrganization, User } from '../directory-store.ts'
import type { NewMember, NewOrganization } from '../new.ts'

/** Opens an empty store whose createTimes come from `now`. */
export type OpenStore = (now: () => Date) => Promise<DirectoryStore>

/** When every test begins, in epoch milliseconds. */
export const start = Date.parse('2026-11-20T09:30:00.000Z')

export const lowerCaseUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** What each test begins with: an empty store, a clock that only the test moves, and ways to fill the store. */
export interface Directory {
  /** The store of the test that runs. */
  store: () => DirectoryStore
  /** What the store takes for now, in epoch milliseconds; each test begins at `start`. */
  clock: { time: number }
  /** A new user, stored; with an e-mail address that the store has not seen unless one is given. */
  givenUser: (email?: string) => Promise<User>
  /** A new organization, stored; with a slug that the store has not seen unless `fields` names one. */
  givenOrganization: (fields?: Partial<NewOrganization>) => Promise<StoredOrganization>
  /** A new user who is the only member of a new organization, with the role of an editor unless one is given. */
  givenMember: (
    role?: NewMember['role'],
  ) => Promise<{ userId: string; organization: StoredOrganization; organizationId: string }>
}

/** One store for each test of the enclosing `describe`. */
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

  return { store, clock, givenUser, givenOrganization, givenMember }
}
