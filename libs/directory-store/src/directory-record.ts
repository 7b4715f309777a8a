import { LogoUrl, OrganizationName, OrganizationSlug, Role, Timestamp, text, Uuid } from '@fms/contracts'
import { recordDigest } from '@fms/store-kit'
import { z } from 'zod'
import type { ApiKey, Member, StoredOrganization, User } from './directory-store.ts'
import { recordConflict } from './errors.ts'

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
  /** SHA-256 of the key's text, base64url: nothing more is known of it. */
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

/** Everything that a directory knows of one user, organization, member or API key, as plain JSON. */
export const DirectoryRecord = z.discriminatedUnion('kind', [
  UserRecord,
  OrganizationRecord,
  MemberRecord,
  KeyRecord,
])
export type DirectoryRecord = z.infer<typeof DirectoryRecord>

/** What an import did: `exists` when the store has the very same already. */
export type Imported = 'imported' | 'exists'

/** Times become RFC 3339 texts, and what is absent stays absent. */
const toRecord = <T extends DirectoryRecord>(kind: T['kind'], stored: object): T =>
  JSON.parse(JSON.stringify({ kind, ...stored }))

export const userRecord = (user: User) => toRecord<z.infer<typeof UserRecord>>('user', user)

export const organizationRecord = (organization: StoredOrganization) =>
  toRecord<z.infer<typeof OrganizationRecord>>('organization', organization)

export const memberRecord = (member: Member) => toRecord<z.infer<typeof MemberRecord>>('member', member)

export const keyRecord = (key: ApiKey & { hash: string }) => toRecord<z.infer<typeof KeyRecord>>('key', key)

/** A time of a record as stores keep it: milliseconds since the epoch, null for none. */
export const timeOf = (text: string | undefined) => (text === undefined ? null : Date.parse(text))

/** Names what a record is of, to people. */
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

/** Tells records apart by content: a SHA-256, hexadecimal. */
export const directoryDigest = (record: DirectoryRecord): string => recordDigest(record)

/** @throws {ApiError} RECORD_CONFLICT unless `stored` is what the record says. */
export const demandSame = (stored: DirectoryRecord, record: DirectoryRecord): 'exists' => {
  if (directoryDigest(stored) !== directoryDigest(record)) {
    throw recordConflict(directoryRecordName(record), 'the same id')
  }
  return 'exists'
}
