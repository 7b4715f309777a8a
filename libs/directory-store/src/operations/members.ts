import { apiError } from '@fms/aip'
import type { z } from 'zod'
import type { DirectoryStore } from '../directory-store.ts'
import { organizationNotFound, userNotFound } from '../errors.ts'
import { NewMember, parseInput } from '../inputs.ts'
import type { ListedMember, Member, Membership } from '../resources.ts'
import { type Change, insert, lock, remove, update, type Write } from '../tables/change.ts'
import type { DirectoryTables } from '../tables/directory-tables.ts'
import { find, findAll, type Reading } from '../tables/reading.ts'
import { type MemberRow, type OrganizationRow, toMember, toMemberRow } from '../tables/rows.ts'
import { organizationsOf } from './organizations.ts'

export const memberOperations = (tables: DirectoryTables, now: () => Date) =>
  ({
    async addMember(newMember) {
      const member = parseInput(NewMember, newMember)
      return tables.change(() => addMember(member, now()))
    },

    async setMember(newMember) {
      const member = parseInput(NewMember, newMember)
      return tables.change(() => setMember(member))
    },

    removeMember: ({ organizationId, userId }) =>
      tables.change(() => removeMember(organizationId.toLowerCase(), userId.toLowerCase())),

    listMembers: (organizationId) => tables.read(() => listMembers(organizationId.toLowerCase())),

    listMemberships: (userId) => tables.read(() => listMemberships(userId)),
  }) satisfies Partial<DirectoryStore>

/** The membership begins now, or 1 ms after the user's latest one. */
function* addMember({ organizationId, userId, role }: z.output<typeof NewMember>, now: Date): Change<Member> {
  const organization = yield* requireUserAndOrganization(userId, organizationId)
  if (yield* find('members', { userId, organizationId }))
    throw apiError('MEMBER_EXISTS', { organizationId, userId })
  const latest = yield* find('members', { userId }, 'createTime')
  const createTime = Math.max(now.getTime(), (latest?.createTime ?? 0) + 1)
  const member = toMemberRow({ userId, role, createTime }, organization)
  return { result: toMember(member), writes: insertMember(member) }
}

function* setMember({ organizationId, userId, role }: z.output<typeof NewMember>): Change<Member> {
  const member = yield* requireMember(organizationId, userId)
  return {
    result: toMember({ ...member, role }),
    writes: update('members', { userId, organizationId }, { role }),
  }
}

function* removeMember(organizationId: string, userId: string): Change<void> {
  yield* requireMember(organizationId, userId)
  return { result: undefined, writes: [remove('members', { userId, organizationId })] }
}

/** @throws {ApiError} ORGANIZATION_NOT_FOUND, USER_NOT_FOUND */
export function* requireUserAndOrganization(
  userId: string,
  organizationId: string,
): Reading<OrganizationRow> {
  const organization = yield* find('organizations', { organizationId })
  if (!organization) throw organizationNotFound(organizationId)
  if (!(yield* find('users', { userId }))) throw userNotFound(userId)
  return organization
}

/** The organization stays as it is until the member is stored: it is neither deleted nor renamed. */
export const insertMember = (member: MemberRow): Write[] => [
  lock('organizations', { organizationId: member.organizationId }),
  insert('members', member),
]

function* requireMember(organizationId: string, userId: string): Reading<MemberRow> {
  const member = yield* find('members', { userId, organizationId })
  if (!member) throw apiError('MEMBER_NOT_FOUND', { organizationId, userId })
  return member
}

/** Indexes: members_of_organization, and the primary key of users. */
function* listMembers(organizationId: string): Reading<ListedMember[]> {
  const members = yield* findAll('members', { organizationId })
  const users = yield* findAll('users', { userId: members.map(({ userId }) => userId) })
  const emails = new Map(users.map(({ userId, email }) => [userId, email]))
  return members
    .map((member) => ({ ...toMember(member), email: emails.get(member.userId)! }))
    .sort((a, b) => a.createTime.getTime() - b.createTime.getTime() || (a.email < b.email ? -1 : 1))
}

/** Indexes: members_by_begin, and the primary key of organizations. */
function* listMemberships(userId: string): Reading<Membership[]> {
  const members = yield* findAll('members', { userId }, { order: ['createTime'] })
  const organizations = yield* organizationsOf(members)
  const roles = new Map(members.map(({ organizationId, role }) => [organizationId, role]))
  return organizations.map((organization) => ({
    organization,
    role: roles.get(organization.organizationId)!,
  }))
}
