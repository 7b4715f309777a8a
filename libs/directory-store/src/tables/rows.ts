import { hashSecret } from '../api-key.ts'
import type { ApiKey, IssuedApiKey, Member, StoredOrganization, User } from '../resources.ts'

/** The row of a resource: its fields, with times in milliseconds since the epoch, `metadata` as JSON text, and null for absent ones. */
type RowOf<T> = {
  [Field in keyof T]-?: T extends Required<Pick<T, Field>> ? RowFields<T>[Field] : number | null
}

export type UserRow = RowOf<User>

export type OrganizationRow = RowOf<StoredOrganization>

/** A membership, with a copy of the organization's fields by which lists sort: an index has to have them. */
export interface MemberRow extends RowOf<Member> {
  slug: string
  name: string
  organizationCreateTime: number
}

/** An API key. SQLite returns 0 or 1 for `readOnly`. */
export interface KeyRow extends Omit<RowOf<ApiKey>, 'readOnly'> {
  /** See {@link hashSecret}. */
  hash: string
  readOnly: boolean | number
}

export interface LoginCodeRow {
  /** See {@link hashSecret}. */
  hash: string
  userId: string
  expireTime: number
}

export interface Rows {
  users: UserRow
  organizations: OrganizationRow
  members: MemberRow
  keys: KeyRow
  loginCodes: LoginCodeRow
}

export type TableName = keyof Rows

/** The fields of the primary key of each table. */
export const primaryKeys: Record<TableName, readonly string[]> = {
  users: ['userId'],
  organizations: ['organizationId'],
  members: ['userId', 'organizationId'],
  keys: ['keyId'],
  loginCodes: ['hash'],
}

export const toUser = ({ userId, email, createTime, disableTime }: UserRow): User => ({
  userId,
  email,
  createTime: new Date(createTime),
  ...toDates({ disableTime }),
})

export const toOrganization = (row: OrganizationRow): StoredOrganization => ({
  organizationId: row.organizationId,
  slug: row.slug,
  name: row.name,
  logo: row.logo,
  metadata: row.metadata === null ? null : JSON.parse(row.metadata),
  createTime: new Date(row.createTime),
})

export const toMember = ({ organizationId, userId, role, createTime }: MemberRow): Member => ({
  organizationId,
  userId,
  role,
  createTime: new Date(createTime),
})

export const toApiKey = (row: KeyRow): ApiKey => ({
  keyId: row.keyId,
  prefix: row.prefix,
  userId: row.userId,
  name: row.name,
  readOnly: Boolean(row.readOnly),
  createTime: new Date(row.createTime),
  ...toDates({ lastUsedTime: row.lastUsedTime, expireTime: row.expireTime, revokeTime: row.revokeTime }),
})

/** The times that are not null. */
const toDates = <Field extends string>(times: Record<Field, number | null>) =>
  Object.fromEntries(
    Object.entries<number | null>(times).flatMap(([field, time]) =>
      time === null ? [] : [[field, new Date(time)]],
    ),
  ) as { [Name in Field]?: Date }

export type RowFields<T> = {
  [Field in keyof T]: Field extends 'metadata' ? string | null : Date extends T[Field] ? number : T[Field]
}

export const toFields = <T extends object>(resource: T): RowFields<T> =>
  Object.fromEntries(
    Object.entries(resource).map(([field, value]) => {
      if (value instanceof Date) return [field, value.getTime()]
      return [field, field === 'metadata' && value !== null ? JSON.stringify(value) : value]
    }),
  ) as RowFields<T>

export const toKeyRow = ({ key, apiKey }: IssuedApiKey): KeyRow => {
  const { expireTime = null, ...fields } = toFields(apiKey)
  return { ...fields, hash: hashSecret(key), lastUsedTime: null, expireTime, revokeTime: null }
}

export const toMemberRow = (
  member: Pick<MemberRow, 'userId' | 'role' | 'createTime'>,
  { organizationId, slug, name, createTime: organizationCreateTime }: OrganizationRow,
): MemberRow => ({ ...member, organizationId, slug, name, organizationCreateTime })
