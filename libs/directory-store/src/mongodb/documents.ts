import type { Role } from '@fms/contracts'
import type { MongoCollection, MongoDatabase } from '@fms/store-kit/mongodb'
import type { ApiKey, Member, StoredOrganization, User } from '../directory-store.ts'

/** Times are milliseconds since the epoch; `_id` is the user's, the organization's, the key's id. */
export interface UserDocument {
  _id: string
  email: string
  createTime: number
  /** Absent in documents of the release before. */
  disableTime?: number | null
}

export interface OrganizationDocument {
  _id: string
  slug: string
  name: string
  logo: string | null
  /** JSON, since the names of its members may hold dots and dollars; null for none. */
  metadata: string | null
  createTime: number
}

/** The organization's fields that lists sort by stand here, too; they follow its changes. */
export interface MemberDocument {
  organizationId: string
  userId: string
  role: Role
  createTime: number
  slug: string
  name: string
  organizationCreateTime: number
}

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

export interface DirectoryCollections {
  users: MongoCollection<UserDocument>
  organizations: MongoCollection<OrganizationDocument>
  members: MongoCollection<MemberDocument>
  keys: MongoCollection<KeyDocument>
}

export const directoryCollections = (database: MongoDatabase): DirectoryCollections => ({
  users: database.collection('users'),
  organizations: database.collection('organizations'),
  members: database.collection('members'),
  keys: database.collection('keys'),
})

/** Finds the user, or the organization, that a reference names. */
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
