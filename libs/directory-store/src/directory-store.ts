import type { AuthorizeRequest } from '@fms/contracts'
import type { DirectoryRecord, ImportResult } from './directory-record.ts'
import type {
  ApiKeyChange,
  NewApiKey,
  NewMember,
  NewOrganization,
  NewOwnKey,
  NewUser,
  OrganizationChange,
} from './inputs.ts'
import type {
  ApiKey,
  Authorization,
  IssuedApiKey,
  KeyPage,
  ListedMember,
  ListOrganizationsQuery,
  ListOwnKeysQuery,
  Member,
  Membership,
  OrganizationPage,
  StoredOrganization,
  User,
} from './resources.ts'

export interface KeyRotation {
  userId: string
  keyId: string
  /** How long the old key still works, in milliseconds. */
  overlapMs: number
  /** A UUID; a second create or rotation of the user with the same one is rejected. */
  requestId?: string | undefined
  /** Throws unless the caller may rotate the key. */
  assertAllowed?: (old: ApiKey) => void
}

/**
 * The store of users, organizations, members and API keys.
 *
 * A `userRef` is the id or e-mail address of a user, an `organizationRef` the id or slug of an organization. A
 * reference in the format of a UUID, in any letter case, is an id. An invalid reference finds nothing. The store
 * generates ids: random UUIDs in lower case.
 *
 * Every method throws {@link ApiError} STORE_UNAVAILABLE when the store cannot be reached. A method that takes a
 * `New…` or `…Change` throws INVALID_REQUEST with all violations of its schema.
 */
export interface DirectoryStore extends AsyncDisposable {
  /** @throws {ApiError} EMAIL_TAKEN */
  createUser(user: NewUser): Promise<User>

  /** Makes all keys of a user invalid. Repeating it keeps the first `disableTime`. @throws {ApiError} USER_NOT_FOUND */
  disableUser(userRef: string): Promise<User>

  /** Makes the keys valid again. @throws {ApiError} USER_NOT_FOUND */
  enableUser(userRef: string): Promise<User>

  /** Creates an organization without members. @throws {ApiError} SLUG_TAKEN */
  createOrganization(organization: NewOrganization): Promise<StoredOrganization>

  /** Updates the organization in the lists of its members, too. @throws {ApiError} ORGANIZATION_NOT_FOUND, SLUG_TAKEN */
  updateOrganization(organizationRef: string, change: OrganizationChange): Promise<StoredOrganization>

  /** Deletes its memberships too; its forms are in the forms store. @throws {ApiError} ORGANIZATION_NOT_FOUND */
  deleteOrganization(organizationRef: string): Promise<void>

  /** @throws {ApiError} USER_NOT_FOUND, ORGANIZATION_NOT_FOUND, MEMBER_EXISTS */
  addMember(member: NewMember): Promise<Member>

  /** Changes the role. @throws {ApiError} MEMBER_NOT_FOUND */
  setMember(member: NewMember): Promise<Member>

  /** @throws {ApiError} MEMBER_NOT_FOUND */
  removeMember(member: { organizationId: string; userId: string }): Promise<void>

  /** @throws {ApiError} USER_NOT_FOUND; API_KEY_EXISTS for a given text that is stored already. */
  createKey(key: NewApiKey): Promise<IssuedApiKey>

  /** Oldest first, including revoked and expired ones. */
  listKeys(): Promise<ApiKey[]>

  /** @throws {ApiError} API_KEY_NOT_FOUND; API_KEY_ENDED for a revoked or expired key. */
  updateKey(keyId: string, change: ApiKeyChange): Promise<ApiKey>

  /** Cannot be undone. Repeating it changes nothing. @throws {ApiError} API_KEY_NOT_FOUND */
  revokeKey(keyId: string): Promise<ApiKey>

  /** Sets `expireTime` unless it is earlier already or the key is revoked. @throws {ApiError} API_KEY_NOT_FOUND */
  expireKey(keyId: string, time: Date): Promise<ApiKey>

  /** Undefined for any but a live key of the user. */
  getOwnKey(userId: string, keyId: string): Promise<ApiKey | undefined>

  /** Live keys only, newest first. */
  listOwnKeys(query: ListOwnKeysQuery): Promise<KeyPage>

  /**
   * Creates a key unless the user has `maxLiveKeys` live ones, however many calls there are at the same time. The
   * `maxEndedKeys` keys that ended last stay stored. `validateOnly` stores nothing: the key in the result is not valid.
   * @throws {ApiError} USER_NOT_FOUND, TOO_MANY_KEYS; KEY_ALREADY_CREATED for a `requestId` that has created a key.
   */
  createOwnKey(key: NewOwnKey, options?: { validateOnly?: boolean }): Promise<IssuedApiKey>

  /**
   * Creates a key with the name, rights and expireTime of a live one, and ends that: after `overlapMs`, or at its
   * expireTime if that is earlier; with 0 it is revoked. One of the two keys is valid at any time. Of concurrent calls
   * with an overlap of 0, one succeeds.
   * @throws {ApiError} KEY_NOT_FOUND for any key but a live one of the user, TOO_MANY_KEYS; KEY_ALREADY_CREATED as for
   *   {@link createOwnKey}, also after the rotation has revoked the old key.
   */
  rotateOwnKey(rotation: KeyRotation, options?: { validateOnly?: boolean }): Promise<IssuedApiKey>

  /** @throws {ApiError} KEY_NOT_FOUND for any but a live key of the user. */
  revokeOwnKey(userId: string, keyId: string, options?: { validateOnly?: boolean }): Promise<void>

  /** The code signs the user in once; only its hash is stored. @throws {ApiError} USER_NOT_FOUND, USER_DISABLED */
  createLoginCode(userRef: string, expireTime: Date): Promise<string>

  /**
   * Exchanges a login code for a new key. A code works once, however many calls there are at the same time.
   * `validateOnly` leaves it as it is.
   * @returns undefined for a code that is unknown, used or expired, or of a disabled user.
   * @throws {ApiError} TOO_MANY_KEYS, after which the code can still be used.
   */
  redeemLoginCode(
    code: string,
    key: { name: string; expireTime: Date },
    options?: { validateOnly?: boolean },
  ): Promise<(IssuedApiKey & { user: User }) | undefined>

  /** Oldest first; for operators. */
  listUsers(): Promise<User[]>

  /** Oldest first; for operators. */
  listAllOrganizations(): Promise<StoredOrganization[]>

  /** In the order in which they joined; empty for an unknown organization. */
  listMembers(organizationId: string): Promise<ListedMember[]>

  findUser(userRef: string): Promise<User | undefined>

  /** Any organization, regardless of membership. Requests of users go through {@link getOrganization}. */
  findOrganization(organizationRef: string): Promise<StoredOrganization | undefined>

  /**
   * Finds a valid key by the result of {@link hashSecret}, and the role of its user in an organization.
   * @returns undefined for a key that is unknown, revoked, expired at `now`, or of a disabled user.
   */
  authorize(request: AuthorizeRequest, now: Date): Promise<Authorization | undefined>

  /** Sets the `lastUsedTime` of a key unless it is later already. Ignores an unknown key. */
  touchKey(keyId: string, time: Date): Promise<void>

  /** Undefined unless the user is a member of the organization. */
  getOrganization(userId: string, organizationRef: string): Promise<StoredOrganization | undefined>

  /** Only the organizations of which the user is a member. */
  listOrganizations(query: ListOrganizationsQuery): Promise<OrganizationPage>

  /** In the order in which they began. */
  listMemberships(userId: string): Promise<Membership[]>

  /** Users, organizations, members, then keys, each by id. May miss records that are created or deleted meanwhile. */
  exportRecords(): AsyncIterable<DirectoryRecord>

  /**
   * Stores an exported record, after its users and organizations. Repeating an import changes nothing.
   * @throws {ApiError} RECORD_CONFLICT if the store has the record in another state, or has another record with the
   *   same e-mail address, slug, key, or start of a user's membership; USER_NOT_FOUND, ORGANIZATION_NOT_FOUND.
   */
  importRecord(record: DirectoryRecord): Promise<ImportResult>

  /** Throws an {@link ApiError} with UNAVAILABLE unless the store is reachable and migrated. */
  ping(): Promise<void>

  /** Completes pending operations and closes the connections. Later calls throw STORE_UNAVAILABLE. */
  close(): Promise<void>
}
