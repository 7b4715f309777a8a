import { randomUUID } from 'node:crypto'
import type { Role } from '@fms/contracts'
import { afterPosition, allOf, filterSql, orderSql, pageSql, type Row, SqliteDatabase } from '@fms/store-kit'
import { apiKeyPrefix, hasEnded, hashApiKey, makeApiKey } from '../api-key.ts'
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
import { createLoginCode, redeemLoginCode } from './login-codes.ts'
import { exportRecords, importRecord } from './move-records.ts'
import { SqliteOwnKeys } from './own-keys.ts'
import { toApiKey, toMember, toOrganization, toUser } from './rows.ts'
import { migrations } from './schema.ts'

/** The column of `members` for each field of the list, in filters and orders. */
const columnOf = {
  createTime: 'members.organizationCreateTime',
  name: 'members.name',
  slug: 'members.slug',
} as const

const toJson = (metadata: StoredOrganization['metadata']) =>
  metadata === null ? null : JSON.stringify(metadata)

/** The directory store on SQLite: one file, shared by the processes of one machine. */
export class SqliteDirectoryStore implements DirectoryStore {
  readonly #database: SqliteDatabase
  readonly #now: () => Date
  readonly #ownKeys: SqliteOwnKeys

  /**
   * @param path a file, or `:memory:`.
   * @param options `readOnly` neither creates nor migrates the file.
   */
  constructor(path: string, now: () => Date, { readOnly }: { readOnly?: boolean } = {}) {
    this.#database = new SqliteDatabase(path, migrations, { readOnly })
    this.#now = now
    this.#ownKeys = new SqliteOwnKeys(this.#database, now)
  }

  async createUser(user: NewUser): Promise<User> {
    const { email } = parseInput(NewUser, user)
    return this.#database.write(() => {
      if (this.#findUser(email)) throw emailTaken(email)
      const createTime = this.#now().getTime()
      return toUser(this.#insert('users', { userId: randomUUID(), email, createTime, disableTime: null }))
    })
  }

  disableUser(userRef: string): Promise<User> {
    return this.#setDisableTime(userRef, ({ disableTime = this.#now() }) => disableTime.getTime())
  }

  enableUser(userRef: string): Promise<User> {
    return this.#setDisableTime(userRef, () => null)
  }

  async createOrganization(organization: NewOrganization): Promise<StoredOrganization> {
    const { metadata, ...fields } = parseInput(NewOrganization, organization)
    return this.#database.write(() => {
      if (this.#findOrganization(fields.slug)) throw slugTaken(fields.slug)
      const row = this.#insert('organizations', {
        organizationId: randomUUID(),
        ...fields,
        metadata: toJson(metadata),
        createTime: this.#now().getTime(),
      })
      return toOrganization(row)
    })
  }

  async updateOrganization(organizationRef: string, change: OrganizationChange): Promise<StoredOrganization> {
    const fields = parseChange(OrganizationChange, change)
    return this.#database.write(() => {
      const current = this.#findOrganization(organizationRef)
      if (!current) throw organizationNotFound(organizationRef)
      const changed = { ...current, ...fields }
      const { organizationId, slug, name, logo, metadata } = changed
      if (slug !== current.slug && this.#findOrganization(slug)) throw slugTaken(slug)
      this.#database.run(
        'UPDATE organizations SET slug = ?, name = ?, logo = ?, metadata = ? WHERE organizationId = ?',
        ...[slug, name, logo, toJson(metadata), organizationId],
      )
      this.#database.run(
        'UPDATE members SET slug = ?, name = ? WHERE organizationId = ?',
        ...[slug, name, organizationId],
      )
      return changed
    })
  }

  async deleteOrganization(organizationRef: string): Promise<void> {
    await this.#database.write(() => {
      const organization = this.#findOrganization(organizationRef)
      if (!organization) throw organizationNotFound(organizationRef)
      for (const table of ['members', 'organizations']) {
        this.#database.run(`DELETE FROM ${table} WHERE organizationId = ?`, organization.organizationId)
      }
    })
  }

  async addMember(member: NewMember): Promise<Member> {
    const { organizationId, userId, role } = parseInput(NewMember, member)
    return this.#database.write(() => {
      const organization = this.#findOrganization(organizationId)
      if (!organization) throw organizationNotFound(organizationId)
      if (!this.#findUser(userId)) throw userNotFound(userId)
      if (this.#findMember(organizationId, userId)) throw memberExists(organizationId, userId)
      const latest = this.#database.get(
        'SELECT max(createTime) AS start FROM members WHERE userId = ?',
        userId,
      )
      const row = this.#insert('members', {
        organizationId,
        userId,
        role,
        createTime: Math.max(this.#now().getTime(), Number(latest?.start) + 1),
        slug: organization.slug,
        name: organization.name,
        organizationCreateTime: organization.createTime.getTime(),
      })
      return toMember(row)
    })
  }

  async setMember(member: NewMember): Promise<Member> {
    const { organizationId, userId, role } = parseInput(NewMember, member)
    return this.#database.write(() => {
      const current = this.#findMember(organizationId, userId)
      if (!current) throw memberNotFound(organizationId, userId)
      this.#database.run(
        'UPDATE members SET role = ? WHERE userId = ? AND organizationId = ?',
        role,
        userId,
        organizationId,
      )
      return { ...current, role }
    })
  }

  async removeMember({ organizationId, userId }: { organizationId: string; userId: string }): Promise<void> {
    await this.#database.write(() => {
      const removed = this.#database.run(
        'DELETE FROM members WHERE userId = ? AND organizationId = ?',
        userId.toLowerCase(),
        organizationId.toLowerCase(),
      )
      if (removed === 0) throw memberNotFound(organizationId, userId)
    })
  }

  async createKey(newKey: NewApiKey): Promise<IssuedApiKey> {
    const { key = makeApiKey(), userId, name, readOnly, expireTime } = parseInput(NewApiKey, newKey)
    const hash = hashApiKey(key)
    return this.#database.write(() => {
      if (!this.#findUser(userId)) throw userNotFound(userId)
      const existing = this.#database.get('SELECT keyId FROM keys WHERE hash = ?', hash)
      if (existing) throw apiKeyExists(existing.keyId as string)
      const row = this.#insert('keys', {
        keyId: randomUUID(),
        hash,
        prefix: apiKeyPrefix(key),
        userId,
        name,
        readOnly: Number(readOnly),
        createTime: this.#now().getTime(),
        lastUsedTime: null,
        expireTime: expireTime?.getTime() ?? null,
        revokeTime: null,
      })
      return { key, apiKey: toApiKey(row) }
    })
  }

  /** Index: keys_by_create_time. */
  async listKeys(): Promise<ApiKey[]> {
    return this.#database.all('SELECT * FROM keys ORDER BY createTime, keyId').map(toApiKey)
  }

  async updateKey(keyId: string, change: ApiKeyChange): Promise<ApiKey> {
    const fields = parseChange(ApiKeyChange, change)
    return this.#database.write(() => {
      const now = this.#now()
      const row = this.#database.get('SELECT * FROM keys WHERE keyId = ?', keyId.toLowerCase())
      if (!row) throw apiKeyNotFound(keyId)
      const current = toApiKey(row)
      if (hasEnded(current, now)) throw apiKeyEnded(current.keyId)
      const changed = { ...current, ...fields }
      this.#database.run(
        'UPDATE keys SET name = ?, expireTime = ?, readOnly = ? WHERE keyId = ?',
        ...[changed.name, changed.expireTime?.getTime() ?? null, Number(changed.readOnly), current.keyId],
      )
      return changed
    })
  }

  async revokeKey(keyId: string): Promise<ApiKey> {
    const id = keyId.toLowerCase()
    return this.#database.write(() => {
      this.#database.run(
        'UPDATE keys SET revokeTime = ? WHERE keyId = ? AND revokeTime IS NULL',
        this.#now().getTime(),
        id,
      )
      const row = this.#database.get('SELECT * FROM keys WHERE keyId = ?', id)
      if (!row) throw apiKeyNotFound(keyId)
      return toApiKey(row)
    })
  }

  async expireKey(keyId: string, time: Date): Promise<ApiKey> {
    const id = keyId.toLowerCase()
    return this.#database.write(() => {
      this.#database.run(
        `UPDATE keys SET expireTime = min(ifnull(expireTime, ?1), ?1) WHERE keyId = ?2 AND revokeTime IS NULL`,
        time.getTime(),
        id,
      )
      const row = this.#database.get('SELECT * FROM keys WHERE keyId = ?', id)
      if (!row) throw apiKeyNotFound(keyId)
      return toApiKey(row)
    })
  }

  async getOwnKey(userId: string, keyId: string): Promise<ApiKey | undefined> {
    return this.#ownKeys.get(userId, keyId)
  }

  async listOwnKeys(query: ListOwnKeysQuery): Promise<KeyPage> {
    return this.#ownKeys.list(query)
  }

  async createOwnKey(key: NewOwnKey, options?: { validateOnly?: boolean }): Promise<IssuedApiKey> {
    return this.#ownKeys.create(key, options?.validateOnly)
  }

  async rotateOwnKey(
    rotation: { userId: string; keyId: string; overlapMs: number },
    options?: { validateOnly?: boolean },
  ): Promise<IssuedApiKey> {
    return this.#ownKeys.rotate(rotation, options?.validateOnly)
  }

  async revokeOwnKey(userId: string, keyId: string): Promise<void> {
    await this.#ownKeys.revoke(userId, keyId)
  }

  async createLoginCode(userRef: string, expireTime: Date): Promise<string> {
    const user = this.#findUser(userRef)
    if (!user) throw userNotFound(userRef)
    return createLoginCode(this.#database, user, expireTime, this.#now())
  }

  /** Indexes: the primary keys of loginCodes and users. */
  redeemLoginCode(code: string, key: { name: string; expireTime: Date }): Promise<IssuedApiKey | undefined> {
    return redeemLoginCode(this.#database, this.#ownKeys, code, key, this.#now())
  }

  async listUsers(): Promise<User[]> {
    return this.#database.all('SELECT * FROM users ORDER BY createTime, email').map(toUser)
  }

  async listAllOrganizations(): Promise<StoredOrganization[]> {
    return this.#database.all('SELECT * FROM organizations ORDER BY createTime, slug').map(toOrganization)
  }

  async listMembers(organizationId: string): Promise<ListedMember[]> {
    const rows = this.#database.all(
      `SELECT members.*, users.email FROM members JOIN users USING (userId)
       WHERE members.organizationId = ? ORDER BY members.createTime, users.email`,
      organizationId.toLowerCase(),
    )
    return rows.map((row) => ({ ...toMember(row), email: row.email as string }))
  }

  async findUser(userRef: string): Promise<User | undefined> {
    return this.#findUser(userRef)
  }

  async findOrganization(organizationRef: string): Promise<StoredOrganization | undefined> {
    return this.#findOrganization(organizationRef)
  }

  /** Indexes: keys.hash, organizations.slug or the primary key, and the primary keys of users and members. */
  async authorize(
    { keyHash, organizationRef = '' }: { keyHash: string; organizationRef?: string },
    now: Date,
  ): Promise<Authorization | undefined> {
    const { field, value } = organizationKey(organizationRef)
    const row = this.#database.get(
      `SELECT keys.*, members.organizationId, members.role FROM keys
       CROSS JOIN users ON users.userId = keys.userId AND users.disableTime IS NULL
       LEFT JOIN organizations ON organizations.${field} = ?
       LEFT JOIN members ON members.userId = keys.userId AND members.organizationId = organizations.organizationId
       WHERE keys.hash = ? AND keys.revokeTime IS NULL AND (keys.expireTime IS NULL OR keys.expireTime > ?)`,
      value,
      keyHash,
      now.getTime(),
    )
    if (!row) return undefined
    const key = toApiKey(row)
    if (row.organizationId === null) return { key }
    return { key, organization: { organizationId: row.organizationId as string, role: row.role as Role } }
  }

  async touchKey(keyId: string, time: Date): Promise<void> {
    await this.#database.write(() =>
      this.#database.run(
        'UPDATE keys SET lastUsedTime = max(coalesce(lastUsedTime, 0), ?) WHERE keyId = ?',
        time.getTime(),
        keyId,
      ),
    )
  }

  /** Indexes: the primary key or the slug of organizations, and the primary key of members. */
  async getOrganization(userId: string, organizationRef: string): Promise<StoredOrganization | undefined> {
    const { field, value } = organizationKey(organizationRef)
    const row = this.#database.get(
      `SELECT organizations.* FROM organizations JOIN members USING (organizationId)
       WHERE organizations.${field} = ? AND members.userId = ?`,
      value,
      userId,
    )
    return row && toOrganization(row)
  }

  /** Index: members_by_{first field of the order}. */
  async listOrganizations(query: ListOrganizationsQuery): Promise<OrganizationPage> {
    const order = completeOrder(query.orderBy)
    const columns = order.map(({ field, descending }) => ({ column: columnOf[field], descending }))
    const matches = allOf(
      { sql: 'members.userId = ?', values: [query.userId] },
      query.filter && filterSql(query.filter, columnOf),
    )
    const rest = allOf(matches, query.after && afterPosition(columns, query.after))
    const rows = this.#database.all(
      // CROSS JOIN prevents a plan that reads all organizations first.
      `SELECT organizations.* FROM members CROSS JOIN organizations USING (organizationId)
       WHERE ${rest.sql} ORDER BY ${orderSql(columns)} ${pageSql}`,
      ...rest.values,
      query.limit + 1,
      query.skip,
    )
    const organizations = rows.slice(0, query.limit).map(toOrganization)
    const count = this.#database.get(
      `SELECT count(*) AS total FROM members WHERE ${matches.sql}`,
      ...matches.values,
    )
    return {
      organizations,
      ...(rows.length > query.limit && { next: positionOf(organizations.at(-1)!, order) }),
      totalSize: count?.total as number,
    }
  }

  /** Index: members_by_begin. */
  async listMemberships(userId: string): Promise<Membership[]> {
    const rows = this.#database.all(
      `SELECT organizations.*, members.role FROM members CROSS JOIN organizations USING (organizationId)
       WHERE members.userId = ? ORDER BY members.createTime`,
      userId,
    )
    return rows.map((row) => ({ organization: toOrganization(row), role: row.role as Role }))
  }

  exportRecords(): AsyncIterable<DirectoryRecord> {
    return exportRecords(this.#database)
  }

  importRecord(record: DirectoryRecord): Promise<ImportResult> {
    return this.#database.write(() => importRecord(this.#database, record))
  }

  async ping(): Promise<void> {
    this.#database.ping()
  }

  close(): Promise<void> {
    return this.#database.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #setDisableTime(userRef: string, timeFor: (user: User) => number | null): Promise<User> {
    return this.#database.write(() => {
      const user = this.#findUser(userRef)
      if (!user) throw userNotFound(userRef)
      this.#database.run('UPDATE users SET disableTime = ? WHERE userId = ?', timeFor(user), user.userId)
      return this.#findUser(user.userId)!
    })
  }

  #findUser(ref: string): User | undefined {
    const { field, value } = userKey(ref)
    const row = this.#database.get(`SELECT * FROM users WHERE ${field} = ?`, value)
    return row && toUser(row)
  }

  #findOrganization(ref: string): StoredOrganization | undefined {
    const { field, value } = organizationKey(ref)
    const row = this.#database.get(`SELECT * FROM organizations WHERE ${field} = ?`, value)
    return row && toOrganization(row)
  }

  #findMember(organizationId: string, userId: string): Member | undefined {
    const row = this.#database.get(
      'SELECT * FROM members WHERE userId = ? AND organizationId = ?',
      userId,
      organizationId,
    )
    return row && toMember(row)
  }

  #insert(table: string, row: Row): Row {
    this.#database.insert(table, row)
    return row
  }
}
