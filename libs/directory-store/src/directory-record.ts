import { LogoUrl, OrganizationName, OrganizationSlug, Role, Timestamp, text, Uuid } from '@fms/contracts'
import { recordDigest } from '@fms/store-kit'
import { z } from 'zod'
import { recordConflict } from './errors.ts'
import type { ApiKey, Member, StoredOrganization, User } from './resources.ts'

const UserRecord = z.strictObject({
  kind: z.literal('user'),
  userId: Uuid,
  email: z.email().max(254),
  createTime: Timestamp,
  disableTime: Timestamp.optional(),
})

const OrganizationRecord = z.strictObject({
  kind: z.literal('organization'),
  organizationId: Uuid,
  slug: OrganizationSlug,
  name: OrganizationName,
  logo: LogoUrl,
  metadata: z.json(),
  createTime: Timestamp,
})

const MemberRecord = z.strictObject({
  kind: z.literal('member'),
  organizationId: Uuid,
  userId: Uuid,
  role: Role,
  createTime: Timestamp,
})

const KeyRecord = z.strictObject({
  kind: z.literal('key'),
  keyId: Uuid,
  /** SHA-256 of the key, base64url. */
  hash: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
  prefix: z.string(),
  userId: Uuid,
  name: text(80),
  readOnly: z.boolean(),
  createTime: Timestamp,
  lastUsedTime: Timestamp.optional(),
  expireTime: Timestamp.optional(),
  revokeTime: Timestamp.optional(),
})

/** All that the store holds of a user, organization, member or API key. An export writes one record per line. */
export const DirectoryRecord = z.discriminatedUnion('kind', [
  UserRecord,
  OrganizationRecord,
  MemberRecord,
  KeyRecord,
])
export type DirectoryRecord = z.infer<typeof DirectoryRecord>

/** Result of an import: `exists` if the store already has an equal record. */
export type ImportResult = 'imported' | 'exists'

/** Converts `Date`s to RFC 3339 texts and omits undefined members. */
export const toRecord = <K extends keyof Resources>(kind: K, stored: Resources[K]): DirectoryRecord =>
  JSON.parse(JSON.stringify({ kind, ...stored }))

interface Resources {
  user: User
  organization: StoredOrganization
  member: Member
  key: ApiKey & { hash: string }
}

/** The subject of a record for messages to people, such as `user 5b0f…`. */
export const directoryRecordName = (record: DirectoryRecord): string => {
  switch (record.kind) {
    case 'user':
      return `user ${record.userId}`
    case 'organization':
      return `organization ${record.organizationId}`
    case 'member':
      return `user ${record.userId} as a member of organization ${record.organizationId}`
    case 'key':
      return `API key ${record.keyId}`
  }
}

/** @throws {ApiError} RECORD_CONFLICT if the records differ. */
export const assertSameRecord = (stored: DirectoryRecord, record: DirectoryRecord): 'exists' => {
  if (recordDigest(stored) !== recordDigest(record)) {
    throw recordConflict(directoryRecordName(record), 'the same id')
  }
  return 'exists'
}
