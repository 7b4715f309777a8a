import type { Role } from '@fms/contracts'
import type { MongoCollection, MongoDatabase } from '@fms/store-kit/mongodb'
import type { ApiKey, Member, StoredOrganization, User } from '../directory-store.ts'

/** A user. In all documents, times are milliseconds since the epoch, and `_id` is the id of the entity. */
export interface UserDocument {
  _id: string
  email: string
  createTime: number
  /** Absent in documents of the previous release. */
  disableTime?: number | null
  /** Counts the changes of `keyClaims`; absent before the first one. */
  keysVersion?: number
  /** The ids of keys that are being created, with the times of their claims. See `MongoOwnKeys`. */
  keyClaims?: Record<string, number>
}

/** An organization. */
export interface OrganizationDocument {
  _id: string
  slug: string
  name: string
  logo: string | null
  /** JSON text, since member names may contain `.` and `$`; null for none. */
  metadata: string | null
  createTime: number
}

/**
 * A membership with a copy of the organization fields by which lists sort. Updates of the organization update the
 * copy.
 */
export interface MemberDocument {
  organizationId: string
  userId: string
  role: Role
  createTime: number
  slug: string
  name: string
  organizationCreateTime: number
}

/** An API key. */
export interface KeyDocument {
  _id: string
  hash: string
  prefix: string
  userId: string
  name: string
  readOnly: boolean
  createTime: number
  lastUsedTime: number | null
  expireTime: number | null
  revokeTime: number | null
}

/** A login code; `_id` is its hash. */
interface LoginCodeDocument {
  _id: string
  userId: string
  expireTime: number
}

/** The collections of a directory store. */
export interface DirectoryCollections {
  users: MongoCollection<UserDocument>
  organizations: MongoCollection<OrganizationDocument>
  members: MongoCollection<MemberDocument>
  keys: MongoCollection<KeyDocument>
  loginCodes: MongoCollection<LoginCodeDocument>
}

/** The collections of a directory store in a database. */
export const directoryCollections = (database: MongoDatabase): DirectoryCollections => ({
  users: database.collection('users'),
  organizations: database.collection('organizations'),
  members: database.collection('members'),
  keys: database.collection('keys'),
  loginCodes: database.collection('loginCodes'),
})

/** The query for a user or organization, from `userKey` or `organizationKey`. */
export const documentKey = ({ field, value }: { field: string; value: string }) => ({
  [field === 'userId' || field === 'organizationId' ? '_id' : field]: value,
})

const optionalTime = <Field extends string>(field: Field, time: number | null | undefined) =>
  (typeof time === 'number' ? { [field]: new Date(time) } : {}) as { [Name in Field]?: Date }

export const toUser = ({ _id, email, createTime, disableTime }: UserDocument): User => ({
  userId: _id,
  email,
  createTime: new Date(createTime),
  ...optionalTime('disableTime', disableTime),
})

export const toOrganization = (document: OrganizationDocument): StoredOrganization => ({
  organizationId: document._id,
  slug: document.slug,
  name: document.name,
  logo: document.logo,
  metadata: document.metadata === null ? null : JSON.parse(document.metadata),
  createTime: new Date(document.createTime),
})

export const toMember = ({ organizationId, userId, role, createTime }: MemberDocument): Member => ({
  organizationId,
  userId,
  role,
  createTime: new Date(createTime),
})

export const toApiKey = (document: KeyDocument): ApiKey => ({
  keyId: document._id,
  prefix: document.prefix,
  userId: document.userId,
  name: document.name,
  readOnly: document.readOnly,
  createTime: new Date(document.createTime),
  ...optionalTime('lastUsedTime', document.lastUsedTime),
  ...optionalTime('expireTime', document.expireTime),
  ...optionalTime('revokeTime', document.revokeTime),
})
