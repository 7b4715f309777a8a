import type { CheckedFilter } from '@fms/aip'
import type { Role } from '@fms/contracts'
import type { z } from 'zod'
import type { DirectoryRecord, Imported } from './directory-record.ts'
import type {
  ApiKeyChange,
  NewApiKey,
  NewMember,
  NewOrganization,
  NewUser,
  OrganizationChange,
} from './new.ts'
import type { OrganizationOrderTerm, OrganizationPosition } from './organization-order.ts'

export interface User {
  userId: string
  /** Lower case, unique. */
  email: string
  createTime: Date
  /** Since when all keys of the user are refused; absent while they are not. */
  disableTime?: Date
}

export interface StoredOrganization {
  organizationId: string
  slug: string
  name: string
  logo: string | null
  /** null when none is stored. */
  metadata: z.core.util.JSONType
  createTime: Date
}

export interface Member {
  organizationId: string
  userId: string
  role: Role
  /** When the membership began: strictly later with each further membership of a user. */
  createTime: Date
}

/** A member as an organization's list shows it. */
export interface ListedMember extends Member {
  email: string
}

/** What is known of an API key: everything but its text. */
export interface ApiKey {
  keyId: string
  /** 8 characters of the key, for people to tell keys apart. */
  prefix: string
  userId: string
  name: string
  readOnly: boolean
  createTime: Date
  lastUsedTime?: Date
  expireTime?: Date
  revokeTime?: Date
}

export interface Authorization {
  key: ApiKey
  /** Absent where none was asked for, where there is none, and where the key's user is no member. */
  organization?: { organizationId: string; role: Role }
}

export interface ListOrganizationsQuery {
  userId: string
  /** Compares createTime, name and slug; absent for all. */
  filter?: CheckedFilter
  /** Empty means oldest first. `slug` breaks ties in the direction of the last field. */
  orderBy: OrganizationOrderTerm[]
  /** Begin behind this position: the `next` of an earlier page in the same order. */
  after?: OrganizationPosition
  /** Items on the page at the most; 1 or more. */
  limit: number
  /** Items to leave out at the beginning, counted from `after`. */
  skip: number
}

export interface OrganizationPage {
  organizations: StoredOrganization[]
  /** Where the next page goes on; absent on the final page. */
  next?: OrganizationPosition
  /** All matches, whatever the page. */
  totalSize: number
}

/**
 * Who may come in, and where: users, organizations, members and API keys.
 *
 * A user is referred to by id or e-mail address, an organization by id or slug. What looks like a UUID is an id, in
 * any letter case; a reference that can be nothing finds nothing. Ids are made here: random UUIDs in lower case.
 *
 * Every method throws {@link ApiError} UNAVAILABLE when the store cannot be reached, and one that takes a `New…` or a
 * `…Change` throws INVALID_REQUEST with all that is wrong with it.
 */
export interface DirectoryStore extends AsyncDisposable {
  /** @throws {ApiError} EMAIL_TAKEN */
  createUser(user: NewUser): Promise<User>

  /**
   * Refuses all keys of a user until {@link enableUser}. Doing it again keeps the first time.
   *
   * @throws {ApiError} USER_NOT_FOUND
   */
  disableUser(userRef: string): Promise<User>

  /** @throws {ApiError} USER_NOT_FOUND */
  enableUser(userRef: string): Promise<User>

  /** @throws {ApiError} SLUG_TAKEN */
  createOrganization(organization: NewOrganization): Promise<StoredOrganization>

  /**
   * Changes the fields that `change` names. On MongoDB the lists of members follow a moment later; the same change
   * again finishes one that was interrupted.
   *
   * @throws {ApiError} ORGANIZATION_NOT_FOUND, SLUG_TAKEN
   */
  updateOrganization(organizationRef: string, change: OrganizationChange): Promise<StoredOrganization>

  /**
   * Deletes an organization and its memberships; its forms stand in another store. Doing it again finishes what was
   * interrupted.
   *
   * @throws {ApiError} ORGANIZATION_NOT_FOUND
   */
  deleteOrganization(organizationRef: string): Promise<void>

  /** @throws {ApiError} USER_NOT_FOUND, ORGANIZATION_NOT_FOUND, MEMBER_EXISTS */
  addMember(member: NewMember): Promise<Member>

  /** Gives a member another role. @throws {ApiError} MEMBER_NOT_FOUND */
  setMember(member: NewMember): Promise<Member>

  /** @throws {ApiError} MEMBER_NOT_FOUND */
  removeMember(member: { organizationId: string; userId: string }): Promise<void>

  /**
   * The key's text is in the answer and nowhere else: the store keeps its hash.
   *
   * @throws {ApiError} USER_NOT_FOUND; API_KEY_EXISTS for a given text that was created before.
   */
  createKey(key: NewApiKey): Promise<{ key: string; apiKey: ApiKey }>

  /** All keys, oldest first, the revoked and expired ones included. */
  listKeys(): Promise<ApiKey[]>

  /** @throws {ApiError} API_KEY_NOT_FOUND; API_KEY_ENDED for a key that is revoked or expired. */
  updateKey(keyId: string, change: ApiKeyChange): Promise<ApiKey>

  /**
   * Ends a key for good. Doing it again changes nothing.
   *
   * @throws {ApiError} API_KEY_NOT_FOUND
   */
  revokeKey(keyId: string): Promise<ApiKey>

  /**
   * Lets a key end at `time`. A key that ends earlier, or is revoked, stays as it is: nothing makes a key live longer.
   *
   * @throws {ApiError} API_KEY_NOT_FOUND
   */
  expireKey(keyId: string, time: Date): Promise<ApiKey>

  /** All users, oldest first. For operators. */
  listUsers(): Promise<User[]>

  /** All organizations, whoever their members are, oldest first. For operators. */
  listAllOrganizations(): Promise<StoredOrganization[]>

  /** The members of an organization, in the order in which they came; none where there is no such organization. */
  listMembers(organizationId: string): Promise<ListedMember[]>

  findUser(userRef: string): Promise<User | undefined>

  /** Finds any organization; what answers a user goes through {@link getOrganization}. */
  findOrganization(organizationRef: string): Promise<StoredOrganization | undefined>

  /**
   * Whose key it is, and what the organization is to them, in one read.
   *
   * @param request keyHash what `hashApiKey` makes of the key.
   * @returns undefined for a key that is unknown, expired at `now` or revoked, or whose user is disabled.
   */
  authorize(
    request: { keyHash: string; organizationRef?: string },
    now: Date,
  ): Promise<Authorization | undefined>

  /** Notes that a key was in use at `time`; never moves back, and an unknown key is no error. */
  touchKey(keyId: string, time: Date): Promise<void>

  /** An organization that the user is a member of; a missing one and a stranger's cannot be told apart. */
  getOrganization(userId: string, organizationRef: string): Promise<StoredOrganization | undefined>

  /** A page of the organizations that the user is a member of. */
  listOrganizations(query: ListOrganizationsQuery): Promise<OrganizationPage>

  /** All organizations that the user is a member of, in the order in which the memberships began. */
  listMemberships(userId: string): Promise<StoredOrganization[]>

  /**
   * Everything that is known: users, then organizations, then members, then keys, each in order of their ids; one
   * after the other, never all in memory. What comes or goes meanwhile may be missing.
   */
  exportRecords(): AsyncIterable<DirectoryRecord>

  /**
   * Stores a record as it was exported, after those that it names. A repeat changes nothing.
   *
   * @param record sound, as the schema `DirectoryRecord` has it.
   * @throws {ApiError} RECORD_CONFLICT when the store has it in another state, or its e-mail address, slug, key or
   *   begin of a membership belongs to another; USER_NOT_FOUND, ORGANIZATION_NOT_FOUND.
   */
  importRecord(record: DirectoryRecord): Promise<Imported>

  /** Resolves while the store answers. */
  ping(): Promise<void>

  /** Finishes what is under way and lets go of the store. */
  close(): Promise<void>
}
