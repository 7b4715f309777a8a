import type { Row, SqliteDatabase } from '@fms/store-kit'
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
import { toApiKey, toMember, toOrganization, toUser } from './rows.ts'

/** A table and the conversion of its rows to records. */
interface Table {
  name: 'users' | 'organizations' | 'members' | 'keys'
  key: readonly string[]
  /** Columns of the unique index in addition to the key. */
  unique: readonly string[]
  /** Name of a conflict in `unique`, for the error. */
  clash: string
  toRecord(row: Row): DirectoryRecord
}

const tableOf: Record<DirectoryRecord['kind'], Table> = {
  user: {
    name: 'users',
    key: ['userId'],
    unique: ['email'],
    clash: 'the same e-mail address',
    toRecord: (row) => userRecord(toUser(row)),
  },
  organization: {
    name: 'organizations',
    key: ['organizationId'],
    unique: ['slug'],
    clash: 'the same slug',
    toRecord: (row) => organizationRecord(toOrganization(row)),
  },
  member: {
    name: 'members',
    key: ['userId', 'organizationId'],
    unique: ['userId', 'createTime'],
    clash: 'the same start of a membership',
    toRecord: (row) => memberRecord(toMember(row)),
  },
  key: {
    name: 'keys',
    key: ['keyId'],
    unique: ['hash'],
    clash: 'the same key',
    toRecord: (row) => keyRecord({ ...toApiKey(row), hash: row.hash as string }),
  },
}

/** Number of rows per query of an export. */
const pageSize = 500

/** Streams all records, page by page. Indexes: the primary keys. */
export async function* exportRecords(database: SqliteDatabase): AsyncGenerator<DirectoryRecord> {
  for (const { name, key, toRecord } of Object.values(tableOf)) {
    const columns = key.join(', ')
    const marks = key.map(() => '?').join(', ')
    const sql = `SELECT * FROM ${name} WHERE (${columns}) > (${marks}) ORDER BY ${columns} LIMIT ${pageSize}`
    let after: Row[string][] = key.map(() => '')
    for (;;) {
      const rows = database.all(sql, ...after)
      for (const row of rows) yield toRecord(row)
      if (rows.length < pageSize) break
      after = key.map((column) => rows.at(-1)![column]!)
    }
  }
}

/** Imports a record, inside a write transaction. */
export const importRecord = (database: SqliteDatabase, record: DirectoryRecord): ImportResult => {
  const { name, key, unique, clash, toRecord } = tableOf[record.kind]
  const row = toRow(database, record)
  const find = (columns: readonly string[]) =>
    database.get(
      `SELECT * FROM ${name} WHERE ${columns.map((column) => `${column} = ?`).join(' AND ')}`,
      ...columns.map((column) => row[column]!),
    )
  const stored = find(key)
  if (stored) return assertSameRecord(toRecord(stored), record)
  if (find(unique)) throw recordConflict(directoryRecordName(record), clash)
  database.insert(name, row)
  return 'imported'
}

const toRow = (database: SqliteDatabase, record: DirectoryRecord): Row => {
  const { kind: _, ...fields } = record
  const createTime = Date.parse(record.createTime)
  const requireUser = (userId: string) => {
    if (!database.get('SELECT 1 FROM users WHERE userId = ?', userId)) throw userNotFound(userId)
  }
  switch (record.kind) {
    case 'user':
      return { ...(fields as Row), createTime, disableTime: toEpochMs(record.disableTime) }
    case 'organization': {
      const metadata = record.metadata === null ? null : JSON.stringify(record.metadata)
      return { ...(fields as Row), metadata, createTime }
    }
    case 'member': {
      const { organizationId, userId } = record
      const organization = database.get(
        'SELECT * FROM organizations WHERE organizationId = ?',
        organizationId,
      )
      if (!organization) throw organizationNotFound(organizationId)
      requireUser(userId)
      const { slug, name, createTime: organizationCreateTime } = organization
      return {
        ...(fields as Row),
        createTime,
        slug: slug!,
        name: name!,
        organizationCreateTime: organizationCreateTime!,
      }
    }
    case 'key':
      requireUser(record.userId)
      return {
        ...(fields as Row),
        readOnly: Number(record.readOnly),
        createTime,
        lastUsedTime: toEpochMs(record.lastUsedTime),
        expireTime: toEpochMs(record.expireTime),
        revokeTime: toEpochMs(record.revokeTime),
      }
  }
}
