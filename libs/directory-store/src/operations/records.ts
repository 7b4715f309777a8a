import {
  assertSameRecord,
  type DirectoryRecord,
  directoryRecordName,
  type ImportResult,
} from '../directory-record.ts'
import type { DirectoryStore } from '../directory-store.ts'
import { recordConflict, userNotFound } from '../errors.ts'
import { type Change, insert } from '../tables/change.ts'
import type { DirectoryTables } from '../tables/directory-tables.ts'
import { find, type Reading, type Where } from '../tables/reading.ts'
import {
  type MemberRow,
  primaryKeys,
  type Rows,
  toApiKey,
  toFields,
  toMember,
  toMemberRow,
  toOrganization,
  toUser,
} from '../tables/rows.ts'
import { insertMember, requireUserAndOrganization } from './members.ts'

type RecordTable = Exclude<keyof Rows, 'loginCodes'>

interface Table<Name extends RecordTable> {
  /** The fields of the unique index in addition to the primary key. */
  unique: readonly string[]
  /** What a record has in common with another one that has the same values in `unique`. */
  clash: string
  toRecord(row: Rows[Name]): DirectoryRecord
}

/** In an order in which their records can be imported. */
const recordTables: { [Name in RecordTable]: Table<Name> } = {
  users: {
    unique: ['email'],
    clash: 'the same e-mail address',
    toRecord: (row) => ({ kind: 'user', ...toUser(row) }),
  },
  organizations: {
    unique: ['slug'],
    clash: 'the same slug',
    toRecord: (row) => ({ kind: 'organization', ...toOrganization(row) }),
  },
  members: {
    unique: ['userId', 'createTime'],
    clash: 'the same start of a membership',
    toRecord: (row) => ({ kind: 'member', ...toMember(row) }),
  },
  keys: {
    unique: ['hash'],
    clash: 'the same key',
    toRecord: (row) => ({ kind: 'key', ...toApiKey(row), hash: row.hash }),
  },
}

export const recordOperations = (tables: DirectoryTables) =>
  ({
    async *exportRecords() {
      for (const [name, { toRecord }] of Object.entries<Table<RecordTable>>(recordTables)) {
        for await (const row of tables.stream(name as RecordTable)) yield toRecord(row)
      }
    },

    importRecord: (record) => tables.change(() => importRecord(record)),
  }) satisfies Partial<DirectoryStore>

function* importRecord(record: DirectoryRecord): Change<ImportResult> {
  const name = `${record.kind}s` as const
  const { unique, clash, toRecord }: Table<RecordTable> = recordTables[name]
  const row = yield* rowOfRecord(record)
  const valuesOf = (fields: readonly string[]) =>
    Object.fromEntries(fields.map((field) => [field, row[field as keyof typeof row]])) as Where<RecordTable>
  const stored = yield* find(name, valuesOf(primaryKeys[name]))
  if (stored) return { result: assertSameRecord(toRecord(stored), record), writes: [] }
  if (yield* find(name, valuesOf(unique))) throw recordConflict(directoryRecordName(record), clash)
  const writes = record.kind === 'member' ? insertMember(row as MemberRow) : [insert(name, row)]
  return { result: 'imported', writes }
}

/** The row of a record. @throws {ApiError} USER_NOT_FOUND, ORGANIZATION_NOT_FOUND */
function* rowOfRecord(record: DirectoryRecord): Reading<Rows[RecordTable]> {
  switch (record.kind) {
    case 'user':
      return { disableTime: null, ...fieldsOf(record) }
    case 'organization':
      return fieldsOf(record)
    case 'member': {
      const { userId, organizationId, ...row } = fieldsOf(record)
      const organization = yield* requireUserAndOrganization(userId, organizationId)
      return toMemberRow({ userId, ...row }, organization)
    }
    case 'key': {
      const row = fieldsOf(record)
      if (!(yield* find('users', { userId: row.userId }))) throw userNotFound(row.userId)
      return { lastUsedTime: null, expireTime: null, revokeTime: null, ...row }
    }
  }
}

const fieldsOf = <T extends DirectoryRecord>({ kind: _, ...record }: T) => toFields(record)
