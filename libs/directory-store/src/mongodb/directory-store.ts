import { randomUUID } from 'node:crypto'
import {
  type BeforeWrite,
  isDuplicateKey,
  listMongodb,
  type MongoCollection,
  MongoDatabase,
  retryOnConflict,
  socketTimeoutMs,
  storeUnavailable,
  writeConflict,
} from '@fms/store-kit/mongodb'
import { apiKeyPrefix, hashApiKey, makeApiKey } from '../api-key.ts'
import type { DirectoryRecord, ImportResult } from '../directory-record.ts'
import type {
  ApiKey,
  Authorization,
  DirectoryStore,
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
} from '../directory-store.ts'
import {
  apiKeyEnded,
  apiKeyExists,
  apiKeyNotFound,
  emailTaken,
  memberExists,
  memberNotFound,
  organizationNotFound,
  slugTaken,
  userNotFound,
} from '../errors.ts'
import {
  ApiKeyChange,
  NewApiKey,
  NewMember,
  NewOrganization,
  type NewOwnKey,
  NewUser,
  OrganizationChange,
  parseChange,
  parseInput,
} from '../inputs.ts'
import { completeOrder, positionOf } from '../organization-order.ts'
import { organizationKey, userKey } from '../references.ts'
import {
  directoryCollections,
  documentKey,
  type KeyDocument,
  type MemberDocument,
  type OrganizationDocument,
  toApiKey,
  toMember,
  toOrganization,
  toUser,
  type UserDocument,
} from './documents.ts'
import { firstOf } from './first-of.ts'
import { createLoginCode, redeemLoginCode } from './login-codes.ts'
import { exportRecords, importRecord } from './move-records.ts'
import { MongoOwnKeys } from './own-keys.ts'
import { directorySchema } from './schema.ts'

/** The field of a member document for each field of the list, in filters and orders. */
const fieldOf = { createTime: 'organizationCreateTime', name: 'name', slug: 'slug' } as const

/** How long the engine may work on each read of an authorization; the gateway waits for 2,000 ms. */
const authorizeTimeoutMs = 1_000

/** The directory store on MongoDB. Each change writes one document; unique indexes resolve conflicts. */
export class MongoDirectoryStore implements DirectoryStore {
  readonly #database: MongoDatabase
  readonly #users: MongoCollection<UserDocument>
  readonly #organizations: MongoCollection<OrganizationDocument>
  readonly #members: MongoCollection<MemberDocument>
  readonly #keys: MongoCollection<KeyDocument>
  readonly #now: () => Date
  readonly #ownKeys: MongoOwnKeys

  /**
   * @param url `mongodb://…/DATABASE`, migrated.
   * @param beforeWrite called before each write, for tests.
   * @param timeoutMs how long the engine may work on a request, in milliseconds; 5,000 by default.
   */
  constructor(url: string, now: () => Date, beforeWrite?: BeforeWrite, timeoutMs?: number) {
    this.#database = new MongoDatabase(url, beforeWrite, directorySchema, {
      ...(timeoutMs !== undefined && {
        socketTimeoutMS: socketTimeoutMs(timeoutMs),
        engineTimeoutMs: timeoutMs,
      }),
    })
    const collections = directoryCollections(this.#database)
    const { users, organizations, members, keys } = collections
    this.#users = users
    this.#organizations = organizations
    this.#members = members
    this.#keys = keys
    this.#now = now
    this.#ownKeys = new MongoOwnKeys(collections, now)
  }

  async createUser(user: NewUser): Promise<User> {
    const { email } = parseInput(NewUser, user)
    const document = { _id: randomUUID(), email, createTime: this.#now().getTime(), disableTime: null }
    if (!(await this.#users.insert(document))) throw emailTaken(email)
    return toUser(document)
  }

  async disableUser(userRef: string): Promise<User> {
    const query = documentKey(userKey(userRef))
    const disableTime = this.#now().getTime()
    // A query for null also matches an absent field.
    const disabled = await this.#users.setAndGet({ ...query, disableTime: null }, { disableTime })
    const user = disabled ?? (await this.#users.findOne(query))
    if (!user) throw userNotFound(userRef)
    return toUser(user)
  }

  async enableUser(userRef: string): Promise<User> {
    const user = await this.#users.setAndGet(documentKey(userKey(userRef)), { disableTime: null })
    if (!user) throw userNotFound(userRef)
    return toUser(user)
  }

  async createOrganization(organization: NewOrganization): Promise<StoredOrganization> {
    const { metadata, ...fields } = parseInput(NewOrganization, organization)
    const document = {
      _id: randomUUID(),
      ...fields,
      metadata: toJson(metadata),
      createTime: this.#now().getTime(),
    }
    if (!(await this.#organizations.insert(document))) throw slugTaken(fields.slug)
    return toOrganization(document)
  }

  async updateOrganization(organizationRef: string, change: OrganizationChange): Promise<StoredOrganization> {
    const { metadata, ...rest } = parseChange(OrganizationChange, change)
    const fields = { ...rest, ...(metadata !== undefined && { metadata: toJson(metadata) }) }
    const query = documentKey(organizationKey(organizationRef))
    const changed = await this.#setOrganization(query, fields)
    if (!changed) throw organizationNotFound(organizationRef)
    return toOrganization((await this.#updateMembersOf(changed)) ?? changed)
  }

  /** Deletes the memberships first, so that an interruption leaves an organization without members. */
  async deleteOrganization(organizationRef: string): Promise<void> {
    const organization = await this.findOrganization(organizationRef)
    if (!organization) {
      // An earlier attempt may have deleted it; a failover must not bring it back after this response.
      await this.#organizations.confirm(documentKey(organizationKey(organizationRef)))
      // An earlier attempt may have been killed before it deleted the memberships that began during it.
      const { field, value } = organizationKey(organizationRef)
      if (field === 'organizationId') await this.#members.deleteMany({ organizationId: value })
      throw organizationNotFound(organizationRef)
    }
    const { organizationId } = organization
    await this.#members.deleteMany({ organizationId })
    await this.#organizations.deleteOne({ _id: organizationId })
    // Also the memberships that began since the first deleteMany, while the organization existed.
    await this.#members.deleteMany({ organizationId })
  }

  async addMember(member: NewMember): Promise<Member> {
    const { organizationId, userId, role } = parseInput(NewMember, member)
    const organization = await this.#organizations.findOne({ _id: organizationId })
    if (!organization) throw organizationNotFound(organizationId)
    if (!(await this.#users.has({ _id: userId }))) throw userNotFound(userId)

    const attempt = async () => {
      const document = {
        organizationId,
        userId,
        role,
        createTime: Math.max(this.#now().getTime(), (await this.#latestStart(userId)) + 1),
        slug: organization.slug,
        name: organization.name,
        organizationCreateTime: organization.createTime,
      }
      if (await this.#members.insert(document)) return toMember(document)
      if (await this.#members.has({ userId, organizationId })) throw memberExists(organizationId, userId)
      // A concurrent call has added another membership of the user with the same createTime.
      return writeConflict
    }
    const added = await retryOnConflict(attempt, () =>
      storeUnavailable(new Error('Memberships keep beginning')),
    )
    // The organization may have been changed or deleted since it was read.
    if (!(await this.#updateMembersOf(organization))) {
      await this.#members.deleteOne({ userId, organizationId })
      throw organizationNotFound(organizationId)
    }
    return added
  }

  async setMember(member: NewMember): Promise<Member> {
    const { organizationId, userId, role } = parseInput(NewMember, member)
    const changed = await this.#members.setAndGet({ userId, organizationId }, { role })
    if (!changed) throw memberNotFound(organizationId, userId)
    return toMember(changed)
  }

  async removeMember({ organizationId, userId }: { organizationId: string; userId: string }): Promise<void> {
    const removed = await this.#members.deleteOne({
      userId: userId.toLowerCase(),
      organizationId: organizationId.toLowerCase(),
    })
    if (!removed) throw memberNotFound(organizationId, userId)
  }

  async createKey(newKey: NewApiKey): Promise<IssuedApiKey> {
    const { key = makeApiKey(), userId, name, readOnly, expireTime } = parseInput(NewApiKey, newKey)
    if (!(await this.#users.has({ _id: userId }))) throw userNotFound(userId)
    const document = {
      _id: randomUUID(),
      hash: hashApiKey(key),
      prefix: apiKeyPrefix(key),
      userId,
      name,
      readOnly,
      createTime: this.#now().getTime(),
      lastUsedTime: null,
      expireTime: expireTime?.getTime() ?? null,
      revokeTime: null,
    }
    if (!(await this.#keys.insert(document))) {
      const existing = await this.#keys.findOne({ hash: document.hash })
      throw apiKeyExists(existing!._id)
    }
    return { key, apiKey: toApiKey(document) }
  }

  /** Index: keys_by_create_time. */
  async listKeys(): Promise<ApiKey[]> {
    const keys = await Array.fromAsync(this.#keys.find({}, { sort: { createTime: 1, _id: 1 } }))
    return keys.map(toApiKey)
  }

  async updateKey(keyId: string, change: ApiKeyChange): Promise<ApiKey> {
    const { expireTime, ...rest } = parseChange(ApiKeyChange, change)
    const fields = { ...rest, ...(expireTime && { expireTime: expireTime.getTime() }) }
    const _id = keyId.toLowerCase()
    const isLive = [{ expireTime: null }, { expireTime: { $gt: this.#now().getTime() } }]
    const query = { _id, revokeTime: null, $or: isLive }
    const changed = await this.#keys.setAndGet(query, fields)
    if (changed) return toApiKey(changed)
    throw (await this.#keys.has({ _id })) ? apiKeyEnded(_id) : apiKeyNotFound(keyId)
  }

  async revokeKey(keyId: string): Promise<ApiKey> {
    const _id = keyId.toLowerCase()
    const revoked = await this.#keys.setAndGet(
      { _id, revokeTime: null },
      { revokeTime: this.#now().getTime() },
    )
    const key = revoked ?? (await this.#keys.findOne({ _id }))
    if (!key) throw apiKeyNotFound(keyId)
    return toApiKey(key)
  }

  async expireKey(keyId: string, time: Date): Promise<ApiKey> {
    const _id = keyId.toLowerCase()
    const expireTime = time.getTime()
    const isLater = [{ expireTime: null }, { expireTime: { $gt: expireTime } }]
    const expiring = await this.#keys.setAndGet({ _id, revokeTime: null, $or: isLater }, { expireTime })
    const key = expiring ?? (await this.#keys.findOne({ _id }))
    if (!key) throw apiKeyNotFound(keyId)
    return toApiKey(key)
  }

  getOwnKey(userId: string, keyId: string): Promise<ApiKey | undefined> {
    return this.#ownKeys.get(userId, keyId)
  }

  listOwnKeys(query: ListOwnKeysQuery): Promise<KeyPage> {
    return this.#ownKeys.list(query)
  }

  createOwnKey(key: NewOwnKey, options?: { validateOnly?: boolean }): Promise<IssuedApiKey> {
    return this.#ownKeys.create(key, options?.validateOnly)
  }

  rotateOwnKey(
    rotation: { userId: string; keyId: string; overlapMs: number },
    options?: { validateOnly?: boolean },
  ): Promise<IssuedApiKey> {
    return this.#ownKeys.rotate(rotation, options?.validateOnly)
  }

  revokeOwnKey(userId: string, keyId: string): Promise<void> {
    return this.#ownKeys.revoke(userId, keyId)
  }

  async createLoginCode(userRef: string, expireTime: Date): Promise<string> {
    const user = await this.findUser(userRef)
    if (!user) throw userNotFound(userRef)
    return createLoginCode(directoryCollections(this.#database), user, expireTime, this.#now())
  }

  /** Index: `_id`. */
  redeemLoginCode(code: string, key: { name: string; expireTime: Date }): Promise<IssuedApiKey | undefined> {
    const collections = directoryCollections(this.#database)
    return redeemLoginCode(collections, this.#ownKeys, code, key, this.#now())
  }

  async listUsers(): Promise<User[]> {
    const users = await Array.fromAsync(this.#users.find({}, { sort: { createTime: 1, email: 1 } }))
    return users.map(toUser)
  }

  async listAllOrganizations(): Promise<StoredOrganization[]> {
    const all = await Array.fromAsync(this.#organizations.find({}, { sort: { createTime: 1, slug: 1 } }))
    return all.map(toOrganization)
  }

  async listMembers(organizationId: string): Promise<ListedMember[]> {
    const query = { organizationId: organizationId.toLowerCase() }
    const members = await Array.fromAsync(this.#members.find(query, { sort: { createTime: 1 } }))
    const users = this.#users.find({ _id: { $in: members.map(({ userId }) => userId) } })
    const emails = new Map(await Array.fromAsync(users, ({ _id, email }) => [_id, email] as const))
    return members
      .map((member) => ({ ...toMember(member), email: emails.get(member.userId)! }))
      .sort((a, b) => a.createTime.getTime() - b.createTime.getTime() || (a.email < b.email ? -1 : 1))
  }

  /** Indexes: `_id` and users_by_email. */
  async findUser(userRef: string): Promise<User | undefined> {
    const user = await this.#users.findOne(documentKey(userKey(userRef)))
    return user && toUser(user)
  }

  /** Indexes: `_id` and organizations_by_slug. */
  async findOrganization(organizationRef: string): Promise<StoredOrganization | undefined> {
    const organization = await this.#organizations.findOne(documentKey(organizationKey(organizationRef)))
    return organization && toOrganization(organization)
  }

  /** Indexes: keys_by_hash, `_id`, organizations_by_slug and members_by_organization. */
  async authorize(
    { keyHash, organizationRef }: { keyHash: string; organizationRef?: string },
    now: Date,
  ): Promise<Authorization | undefined> {
    const document = await this.#keys.findOne(
      { hash: keyHash, revokeTime: null },
      undefined,
      authorizeTimeoutMs,
    )
    if (!document || (document.expireTime !== null && document.expireTime <= now.getTime())) return undefined
    const key = toApiKey(document)
    const [isDisabled, member] = await Promise.all([
      this.#users.has({ _id: key.userId, disableTime: { $ne: null } }, authorizeTimeoutMs),
      organizationRef ? this.#member(key.userId, organizationRef, authorizeTimeoutMs) : undefined,
    ])
    if (isDisabled) return undefined
    if (!member) return { key }
    return { key, organization: { organizationId: member.organizationId, role: member.role } }
  }

  async touchKey(keyId: string, time: Date): Promise<void> {
    const lastUsedTime = time.getTime()
    const isEarlier = [{ lastUsedTime: null }, { lastUsedTime: { $lt: lastUsedTime } }]
    await this.#keys.set({ _id: keyId, $or: isEarlier }, { lastUsedTime })
  }

  /** Indexes: organizations_by_slug, members_by_organization and `_id`. */
  async getOrganization(userId: string, organizationRef: string): Promise<StoredOrganization | undefined> {
    const member = await this.#member(userId, organizationRef)
    return member && (await this.findOrganization(member.organizationId))
  }

  /** Index: members_by_{first field of the order}. */
  async listOrganizations(query: ListOrganizationsQuery): Promise<OrganizationPage> {
    const order = completeOrder(query.orderBy)
    const list = listMongodb(this.#members, {
      scope: { userId: query.userId },
      filter: query.filter,
      fields: fieldOf,
      order: order.map(({ field, descending }) => ({ field: fieldOf[field], descending })),
      after: query.after,
      skip: query.skip,
      limit: query.limit,
    })
    const [members, totalSize] = await Promise.all([firstOf(query.limit + 1, list.items), list.count()])
    const page = members.slice(0, query.limit)
    return {
      organizations: await this.#organizationsOf(page),
      ...(members.length > query.limit && { next: positionOf(sortFields(page.at(-1)!), order) }),
      totalSize,
    }
  }

  /** Index: members_by_begin. */
  async listMemberships(userId: string): Promise<Membership[]> {
    const members = await Array.fromAsync(this.#members.find({ userId }, { sort: { createTime: 1 } }))
    const roles = new Map(members.map(({ organizationId, role }) => [organizationId, role]))
    const organizations = await this.#organizationsOf(members)
    return organizations.map((organization) => ({
      organization,
      role: roles.get(organization.organizationId)!,
    }))
  }

  exportRecords(): AsyncIterable<DirectoryRecord> {
    return exportRecords(directoryCollections(this.#database))
  }

  importRecord(record: DirectoryRecord): Promise<ImportResult> {
    return importRecord(directoryCollections(this.#database), record)
  }

  ping(): Promise<void> {
    return this.#database.ping(directorySchema)
  }

  close(): Promise<void> {
    return this.#database.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Looks up a slug in `organizations`, since the copy in a membership may be outdated. */
  async #member(
    userId: string,
    organizationRef: string,
    timeoutMs?: number,
  ): Promise<MemberDocument | undefined> {
    const { field, value } = organizationKey(organizationRef)
    const organizationId =
      field === 'organizationId'
        ? value
        : (await this.#organizations.findOne({ slug: value }, ['_id'], timeoutMs))?._id
    if (organizationId === undefined) return undefined
    return this.#members.findOne({ userId, organizationId }, undefined, timeoutMs)
  }

  /** @throws {ApiError} SLUG_TAKEN */
  async #setOrganization(
    query: object,
    fields: Partial<OrganizationDocument>,
  ): Promise<OrganizationDocument | undefined> {
    // MongoDB rejects an update without fields.
    if (Object.keys(fields).length === 0) {
      return (await this.#organizations.confirm(query)) ? this.#organizations.findOne(query) : undefined
    }
    try {
      return await this.#organizations.setAndGet(query, fields)
    } catch (error) {
      throw isDuplicateKey(error) ? slugTaken(fields.slug!) : error
    }
  }

  /**
   * Copies the slug and name of an organization to its memberships. Repeats if another process changes them meanwhile.
   *
   * @param read the organization as last read.
   * @returns the current organization, or undefined if it is deleted.
   */
  async #updateMembersOf(read: OrganizationDocument): Promise<OrganizationDocument | undefined> {
    const { _id: organizationId, slug, name } = read
    const outdated = { organizationId, $or: [{ slug: { $ne: slug } }, { name: { $ne: name } }] }
    for await (const { userId } of this.#members.find(outdated)) {
      await this.#members.set({ userId, organizationId }, { slug, name })
    }
    const current = await this.#organizations.findOne({ _id: organizationId })
    const isSame = !current || (current.slug === slug && current.name === name)
    return isSame ? current : this.#updateMembersOf(current)
  }

  /** The createTime of the user's latest membership; 0 for none. */
  async #latestStart(userId: string): Promise<number> {
    const [latest] = await firstOf(1, this.#members.find({ userId }, { sort: { createTime: -1 }, limit: 1 }))
    return latest?.createTime ?? 0
  }

  /** The organizations of memberships, in the same order, without those that were deleted meanwhile. */
  async #organizationsOf(members: MemberDocument[]): Promise<StoredOrganization[]> {
    const ids = members.map(({ organizationId }) => organizationId)
    const found = new Map<string, StoredOrganization>()
    for await (const organization of this.#organizations.find({ _id: { $in: ids } })) {
      found.set(organization._id, toOrganization(organization))
    }
    return ids.flatMap((id) => found.get(id) ?? [])
  }
}

const toJson = (metadata: StoredOrganization['metadata']) =>
  metadata === null ? null : JSON.stringify(metadata)

/** The fields of a membership by which lists sort. */
const sortFields = ({ organizationCreateTime, name, slug }: MemberDocument) => ({
  createTime: new Date(organizationCreateTime),
  name,
  slug,
})
