import { recordDigest } from '@fms/store-kit'
import { recordConflict } from './errors.ts'
import type { ApiKey, Member, StoredOrganization, User } from './resources.ts'
import { primaryKeys } from './tables/rows.ts'

interface Resources {
  user: User
  organization: StoredOrganization
  member: Member
  key: ApiKey & { hash: string }
}

/** All that the store holds of a user, organization, member or API key. */
export type DirectoryRecord = { [K in keyof Resources]: { kind: K } & Resources[K] }[keyof Resources]

/** Result of an import: `exists` if the store already has an equal record. */
export type ImportResult = 'imported' | 'exists'

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

/** Orders the records of a kind as an export does, by UTF-16 code unit. */
export const directoryRecordKey = (record: DirectoryRecord): string => {
  const fields = primaryKeys[`${record.kind}s`] as readonly (keyof DirectoryRecord)[]
  return fields.map((field) => record[field]).join(' ')
}

/** @throws {ApiError} RECORD_CONFLICT if the records differ. */
export const assertSameRecord = (stored: DirectoryRecord, record: DirectoryRecord): 'exists' => {
  if (recordDigest(stored) !== recordDigest(record)) {
    throw recordConflict(directoryRecordName(record), 'the same id')
  }
  return 'exists'
}
