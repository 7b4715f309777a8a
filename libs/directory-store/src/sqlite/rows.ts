import type { Role } from '@fms/contracts'
import type { Row } from '@fms/store-kit'
import type { ApiKey, Member, StoredOrganization, User } from '../directory-store.ts'

const text = (row: Row, column: string) => row[column] as string
const time = (row: Row, column: string) => new Date(row[column] as number)
const optionalTime = <Column extends string>(row: Row, column: Column) =>
  (row[column] === null ? {} : { [column]: time(row, column) }) as { [Name in Column]?: Date }

/** Converts a row of `users`. */
export const toUser = (row: Row): User => ({
  userId: text(row, 'userId'),
  email: text(row, 'email'),
  createTime: time(row, 'createTime'),
  ...optionalTime(row, 'disableTime'),
})

/** Converts a row of `organizations`. */
export const toOrganization = (row: Row): StoredOrganization => ({
  organizationId: text(row, 'organizationId'),
  slug: text(row, 'slug'),
  name: text(row, 'name'),
  logo: row.logo as string | null,
  metadata: row.metadata === null ? null : JSON.parse(text(row, 'metadata')),
  createTime: time(row, 'createTime'),
})

/** Converts a row of `members`. */
export const toMember = (row: Row): Member => ({
  organizationId: text(row, 'organizationId'),
  userId: text(row, 'userId'),
  role: row.role as Role,
  createTime: time(row, 'createTime'),
})

/** Converts a row of `keys`. */
export const toApiKey = (row: Row): ApiKey => ({
  keyId: text(row, 'keyId'),
  prefix: text(row, 'prefix'),
  userId: text(row, 'userId'),
  name: text(row, 'name'),
  readOnly: row.readOnly === 1,
  createTime: time(row, 'createTime'),
  ...optionalTime(row, 'lastUsedTime'),
  ...optionalTime(row, 'expireTime'),
  ...optionalTime(row, 'revokeTime'),
})
