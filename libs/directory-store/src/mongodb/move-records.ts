import {
  assertSameRecord,
  type DirectoryRecord,
  directoryRecordName,
  type ImportResult,
  keyRecord,
  memberRecord,
  organizationRecord,
  toEpochMs,
  userRecord,
} from '../directory-record.ts'
import { organizationNotFound, recordConflict, userNotFound } from '../errors.ts'
import {
  type DirectoryCollections,
  type KeyDocument,
  type MemberDocument,
  toApiKey,
  toMember,
  toOrganization,
  toUser,
} from './documents.ts'

const keyRecordOf = (document: KeyDocument) => keyRecord({ ...toApiKey(document), hash: document.hash })

/** Streams all records. Indexes: `_id` and members_by_organization. */
export async function* exportRecords({
  users,
  organizations,
  members,
  keys,
}: DirectoryCollections): AsyncGenerator<DirectoryRecord> {
  const byId = { sort: { _id: 1 } } as const
  for await (const user of users.find({}, byId)) yield userRecord(toUser(user))
  for await (const organization of organizations.find({}, byId)) {
    yield organizationRecord(toOrganization(organization))
  }
  for await (const member of members.find({}, { sort: { userId: 1, organizationId: 1 } })) {
    yield memberRecord(toMember(member))
  }
  for await (const key of keys.find({}, byId)) yield keyRecordOf(key)
}

/** Imports a record with a single insert, which is atomic. */
export const importRecord = async (
  collections: DirectoryCollections,
  record: DirectoryRecord,
): Promise<ImportResult> => {
  switch (record.kind) {
    case 'user':
      return importUser(collections, record)
    case 'organization':
      return importOrganization(collections, record)
    case 'member':
      return importMember(collections, record)
    case 'key':
      return importKey(collections, record)
  }
}

type RecordOf<Kind> = Extract<DirectoryRecord, { kind: Kind }>

const importUser = async (
  { users }: DirectoryCollections,
  record: RecordOf<'user'>,
): Promise<ImportResult> => {
  const { userId: _id, email } = record
  const document = {
    _id,
    email,
    createTime: Date.parse(record.createTime),
    disableTime: toEpochMs(record.disableTime),
  }
  if (await users.insert(document)) return 'imported'
  const stored = await users.findOne({ _id })
  if (!stored) throw recordConflict(directoryRecordName(record), 'the same e-mail address')
  return assertSameRecord(userRecord(toUser(stored)), record)
}

const importOrganization = async (
  { organizations }: DirectoryCollections,
  record: RecordOf<'organization'>,
): Promise<ImportResult> => {
  const { organizationId: _id, slug, name, logo } = record
  const metadata = record.metadata === null ? null : JSON.stringify(record.metadata)
  const createTime = Date.parse(record.createTime)
  if (await organizations.insert({ _id, slug, name, logo, metadata, createTime })) return 'imported'
  const stored = await organizations.findOne({ _id })
  if (!stored) throw recordConflict(directoryRecordName(record), 'the same slug')
  return assertSameRecord(organizationRecord(toOrganization(stored)), record)
}

const importMember = async (
  { users, organizations, members }: DirectoryCollections,
  record: RecordOf<'member'>,
): Promise<ImportResult> => {
  const { organizationId, userId, role } = record
  const organization = await organizations.findOne({ _id: organizationId })
  if (!organization) throw organizationNotFound(organizationId)
  if (!(await users.has({ _id: userId }))) throw userNotFound(userId)
  const document: MemberDocument = {
    organizationId,
    userId,
    role,
    createTime: Date.parse(record.createTime),
    slug: organization.slug,
    name: organization.name,
    organizationCreateTime: organization.createTime,
  }
  if (await members.insert(document)) return 'imported'
  const stored = await members.findOne({ userId, organizationId })
  if (!stored) throw recordConflict(directoryRecordName(record), 'the same start of a membership')
  return assertSameRecord(memberRecord(toMember(stored)), record)
}

const importKey = async (
  { users, keys }: DirectoryCollections,
  record: RecordOf<'key'>,
): Promise<ImportResult> => {
  const { kind: _, keyId: _id, createTime, lastUsedTime, expireTime, revokeTime, ...fields } = record
  if (!(await users.has({ _id: fields.userId }))) throw userNotFound(fields.userId)
  const document: KeyDocument = {
    _id,
    ...fields,
    createTime: Date.parse(createTime),
    lastUsedTime: toEpochMs(lastUsedTime),
    expireTime: toEpochMs(expireTime),
    revokeTime: toEpochMs(revokeTime),
  }
  if (await keys.insert(document)) return 'imported'
  const stored = await keys.findOne({ _id })
  if (!stored) throw recordConflict(directoryRecordName(record), 'the same key')
  return assertSameRecord(keyRecordOf(stored), record)
}
