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
  /** Throws if the caller must not rotate the key. */
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
  /** Creates a user. @throws {ApiError} EMAIL_TAKEN */
  createUser(user: NewUser): Promise<User>

  /**
   * Makes all keys of a user invalid until {@link enableUser}. Repeating it keeps the first `disableTime`.
   *
   * @throws {ApiError} USER_NOT_FOUND
   */
  disableUser(userRef: string): Promise<User>

  /** Makes the keys of a disabled user valid again. @throws {ApiError} USER_NOT_FOUND */
  enableUser(userRef: string): Promise<User>

  /** Creates an organization without members. @throws {ApiError} SLUG_TAKEN */
  createOrganization(organization: NewOrganization): Promise<StoredOrganization>

  /**
   * Changes the fields in `change`, and the lists of its members with them.
   *
   * @throws {ApiError} ORGANIZATION_NOT_FOUND, SLUG_TAKEN
   */
  updateOrganization(organizationRef: string, change: OrganizationChange): Promise<StoredOrganization>

  /**
   * Deletes an organization and its memberships, but not its forms, which are in the forms store.
   *
   * @throws {ApiError} ORGANIZATION_NOT_FOUND
   */
  deleteOrganization(organizationRef: string): Promise<void>

  /** Adds a user to an organization. @throws {ApiError} USER_NOT_FOUND, ORGANIZATION_NOT_FOUND, MEMBER_EXISTS */
  addMember(member: NewMember): Promise<Member>

  /** Changes the role of a member. @throws {ApiError} MEMBER_NOT_FOUND */
  setMember(member: NewMember): Promise<Member>

  /** Removes a user from an organization. @throws {ApiError} MEMBER_NOT_FOUND */
  removeMember(member: { organizationId: string; userId: string }): Promise<void>

  /**
   * Creates an API key and returns its text, of which the store keeps only the hash.
   *
   * @throws {ApiError} USER_NOT_FOUND; API_KEY_EXISTS for a given text that is stored already.
   */
  createKey(key: NewApiKey): Promise<IssuedApiKey>

  /** All keys, oldest first, including revoked and expired ones. */
  listKeys(): Promise<ApiKey[]>

  /**
   * Changes the fields in `change`. @throws {ApiError} API_KEY_NOT_FOUND; API_KEY_ENDED for a revoked or expired key.
   */
  updateKey(keyId: string, change: ApiKeyChange): Promise<ApiKey>

  /**
   * Revokes a key, which cannot be undone. Repeating it changes nothing.
   *
   * @throws {ApiError} API_KEY_NOT_FOUND
   */
  revokeKey(keyId: string): Promise<ApiKey>

  /**
   * Sets the `expireTime` of a key unless it is earlier already or the key is revoked. Never extends the life of a key.
   *
   * @throws {ApiError} API_KEY_NOT_FOUND
   */
  expireKey(keyId: string, time: Date): Promise<ApiKey>

  /** A live key of the user; undefined for any other. */
  getOwnKey(userId: string, keyId: string): Promise<ApiKey | undefined>

  /** A page of the live keys of a user, newest first. */
  listOwnKeys(query: ListOwnKeysQuery): Promise<KeyPage>

  /**
   * Creates an API key by the API, unless the user has `maxLiveKeys` live keys, however many calls there are at the
   * same time. Of the user's keys that are revoked or expired, the `maxEndedKeys` that ended last stay stored.
   *
   * @param options `validateOnly` runs the checks and stores nothing: the key in the result is not valid.
   * @throws {ApiError} USER_NOT_FOUND, TOO_MANY_KEYS; KEY_ALREADY_CREATED for a `requestId` that has created a key.
   */
  createOwnKey(key: NewOwnKey, options?: { validateOnly?: boolean }): Promise<IssuedApiKey>

  /**
   * Creates a key with the name, rights and expireTime of a live one, and ends that: after `overlapMs`, or at its
   * expireTime if that is earlier; with 0 it is revoked. One of the two keys is valid at any time. Of concurrent calls
   * with an overlap of 0, one succeeds.
   *
   * @param options as for {@link createOwnKey}.
   * @throws {ApiError} KEY_NOT_FOUND for any key but a live one of the user, TOO_MANY_KEYS; KEY_ALREADY_CREATED as for
   *   {@link createOwnKey}, also after the rotation has revoked the old key.
   */
  rotateOwnKey(rotation: KeyRotation, options?: { validateOnly?: boolean }): Promise<IssuedApiKey>

  /** Revokes a live key of the user. @throws {ApiError} KEY_NOT_FOUND for any other key. */
  revokeOwnKey(userId: string, keyId: string): Promise<void>

  /**
   * Creates a code with which a user can sign in once, until `expireTime`. The store keeps only its hash.
   *
   * @throws {ApiError} USER_NOT_FOUND, USER_DISABLED
   */
  createLoginCode(userRef: string, expireTime: Date): Promise<string>

  /**
   * Exchanges a login code for a new key of its user. A code works once, however many calls there are at the same time.
   *
   * @param options `validateOnly` leaves the code as it is: the key in the result is not valid.
   * @returns undefined for a code that is unknown, used or expired, or of a disabled user.
   * @throws {ApiError} TOO_MANY_KEYS, after which the code can still be used.
   */
  redeemLoginCode(
    code: string,
    key: { name: string; expireTime: Date },
    options?: { validateOnly?: boolean },
  ): Promise<(IssuedApiKey & { user: User }) | undefined>

  /** All users, oldest first; for operators. */
  listUsers(): Promise<User[]>

  /** All organizations, oldest first; for operators. */
  listAllOrganizations(): Promise<StoredOrganization[]>

  /** The members of an organization, in the order in which they joined; empty for an unknown organization. */
  listMembers(organizationId: string): Promise<ListedMember[]>

  /** A user, disabled or not; undefined for an unknown one. */
  findUser(userRef: string): Promise<User | undefined>

  /** Any organization, regardless of membership. Requests of users go through {@link getOrganization}. */
  findOrganization(organizationRef: string): Promise<StoredOrganization | undefined>

  /**
   * Finds a valid key, and the role of its user in an organization.
   *
   * @param request `keyHash` is the result of {@link hashApiKey}.
   * @returns undefined for a key that is unknown, revoked, expired at `now`, or of a disabled user.
   */
  authorize(
    request: { keyHash: string; organizationRef?: string },
    now: Date,
  ): Promise<Authorization | undefined>

  /** Sets the `lastUsedTime` of a key unless it is later already. Ignores an unknown key. */
  touchKey(keyId: string, time: Date): Promise<void>

  /** An organization of which the user is a member; undefined for any other and for an unknown one. */
  getOrganization(userId: string, organizationRef: string): Promise<StoredOrganization | undefined>

  /** A page of the organizations of which the user is a member. */
  listOrganizations(query: ListOrganizationsQuery): Promise<OrganizationPage>

  /** All memberships of a user, in the order in which they began. */
  listMemberships(userId: string): Promise<Membership[]>

  /**
   * Streams all users, then organizations, then members, then keys, each in the order of their ids. May miss records
   * that are created or deleted during the export.
   */
  exportRecords(): AsyncIterable<DirectoryRecord>

  /**
   * Stores an exported record. The users and organizations in the record must be imported before it. Repeating an
   * import changes nothing.
   *
   * @param record a valid `DirectoryRecord`.
   * @throws {ApiError} RECORD_CONFLICT if the store has the record in another state, or has another record with the
   *   same e-mail address, slug, key, or start of a user's membership; USER_NOT_FOUND, ORGANIZATION_NOT_FOUND.
   */
  importRecord(record: DirectoryRecord): Promise<ImportResult>

  /** Resolves if the store is reachable and migrated; else throws an {@link ApiError} with UNAVAILABLE. */
  ping(): Promise<void>

  /** Completes pending operations and closes the connections. Later calls throw STORE_UNAVAILABLE. */
  close(): Promise<void>
}
