import type { Role } from '@fms/contracts'
import {
  afterPosition,
  allOf,
  filterSql,
  orderSql,
  pageSql,
  type Row,
  readInPages,
  type SqlCondition,
  SqliteDatabase,
} from '@fms/store-kit'
import { whereOrganization } from '../references.ts'
import type { Write } from '../tables/change.ts'
import type { DirectoryTables, PageQuery } from '../tables/directory-tables.ts'
import { type Condition, type Conditions, type Query, type Reading, runReading } from '../tables/reading.ts'
import { type KeyRow, primaryKeys, type Rows, type TableName, toApiKey } from '../tables/rows.ts'
import { migrations } from './schema.ts'

/** One file, shared by the processes of one machine. @param path a file, or `:memory:`. */
export const sqliteTables = (path: string, options: { readOnly?: boolean } = {}): DirectoryTables => {
  const database = new SqliteDatabase(path, migrations, options)
  const run = <R>(reading: Reading<R>): R => runReading(reading, (query) => readRows(database, query))
  /** Reads one state of the file. */
  const read = async <R>(reading: () => Reading<R>): Promise<R> => database.snapshot(() => run(reading()))

  return {
    read,

    change: (change) =>
      database.write(() => {
        const { result, writes } = run(change())
        for (const write of writes) apply(database, write)
        return result
      }),

    async page<T extends TableName>(query: PageQuery<T>) {
      const { table, filter, filterFields = {}, order, after, limit, skip } = query
      const matches = allOf(whereSql(query.where), filter && filterSql(filter, filterFields))
      const rest = allOf(matches, after && afterPosition(order, after))
      const sql = `SELECT * FROM ${table} WHERE ${rest.sql} ORDER BY ${orderSql(order)} ${pageSql}`
      const rows = database.all(sql, ...rest.values, limit + 1, skip)
      const countSql = `SELECT count(*) AS total FROM ${table} WHERE ${matches.sql}`
      return {
        rows: rows.slice(0, limit) as unknown[] as Rows[T][],
        hasMore: rows.length > limit,
        totalSize: database.get(countSql, ...matches.values)?.total as number,
      }
    },

    stream<T extends TableName>(table: T) {
      const order = primaryKeys[table].map((field) => ({ field, descending: false }))
      return readInPages((last: Rows[T] | undefined) => {
        const position = last && order.map(({ field }) => (last as Row)[field]!)
        const after = position ? afterPosition(order, position) : everyRow
        const sql = `SELECT * FROM ${table} WHERE ${after.sql} ORDER BY ${orderSql(order)} LIMIT 500`
        return database.all(sql, ...after.values) as unknown[] as Rows[T][]
      })
    },

    /** Indexes: keys.hash, organizations.slug or the primary key, and the primary keys of users and members. */
    async authorize({ keyHash, organizationRef = '' }, now) {
      const organization = whereSql(whereOrganization(organizationRef), 'organizations.')
      const row = database.get(
        `SELECT keys.*, members.organizationId, members.role FROM keys
         CROSS JOIN users ON users.userId = keys.userId AND users.disableTime IS NULL
         LEFT JOIN organizations ON ${organization.sql}
         LEFT JOIN members ON members.userId = keys.userId AND members.organizationId = organizations.organizationId
         WHERE keys.hash = ? AND keys.revokeTime IS NULL AND (keys.expireTime IS NULL OR keys.expireTime > ?)`,
        ...[...organization.values, keyHash, now.getTime()],
      )
      if (!row) return undefined
      const key = toApiKey(row as unknown as KeyRow)
      if (row.organizationId === null) return { key }
      return { key, organization: { organizationId: row.organizationId as string, role: row.role as Role } }
    },

    async touchKey(keyId, time) {
      const sql = 'UPDATE keys SET lastUsedTime = max(coalesce(lastUsedTime, 0), ?) WHERE keyId = ?'
      await database.write(() => database.run(sql, time.getTime(), keyId))
    },

    ping: async () => database.ping(),

    close: () => database.close(),
  }
}

const readRows = (database: SqliteDatabase, { table, where, fields = ['*'], order, limit }: Query): Row[] => {
  const { sql, values } = whereSql(where)
  const orderBy = order.length > 0 ? ` ORDER BY ${orderSql(order)}` : ''
  const limited = limit === undefined ? '' : ` LIMIT ${limit}`
  return database.all(`SELECT ${fields.join(', ')} FROM ${table} WHERE ${sql}${orderBy}${limited}`, ...values)
}

/** A lock needs nothing: SQLite makes one change after another. */
const apply = (database: SqliteDatabase, write: Write): void => {
  if (write.kind === 'lock') return
  if (write.kind === 'insert') {
    database.insert(write.table, toRow(write.row))
    return
  }
  const { sql, values } = whereSql(write.where)
  if (write.kind === 'delete') {
    database.run(`DELETE FROM ${write.table} WHERE ${sql}`, ...values)
    return
  }
  const fields = toRow(write.fields)
  const sets = Object.keys(fields).map((column) => `${column} = ?`)
  database.run(
    `UPDATE ${write.table} SET ${sets.join(', ')} WHERE ${sql}`,
    ...Object.values(fields),
    ...values,
  )
}

/** SQLite has no booleans. */
const toRow = (fields: object): Row =>
  Object.fromEntries(
    Object.entries(fields).map(([column, value]) => [
      column,
      typeof value === 'boolean' ? Number(value) : value,
    ]),
  )

const everyRow: SqlCondition = { sql: 'TRUE', values: [] }

/** The SQL of conditions on columns. @param prefix of the columns, such as `organizations.`. */
const whereSql = (where: Conditions, prefix = ''): SqlCondition => {
  const conditions = Object.entries(where).map(([field, condition]) => columnSql(prefix + field, condition))
  return conditions.length > 0 ? allOf(...conditions) : everyRow
}

const columnSql = (column: string, condition: Condition): SqlCondition => {
  if (condition === null) return { sql: `${column} IS NULL`, values: [] }
  if (typeof condition !== 'object') return { sql: `${column} = ?`, values: [condition] }
  if ('atMost' in condition) return { sql: `${column} <= ?`, values: [condition.atMost] }
  if ('nullOrAfter' in condition) {
    return { sql: `${column} IS NULL OR ${column} > ?`, values: [condition.nullOrAfter] }
  }
  // As JSON, so that the SQL is the same for any number of values.
  return { sql: `${column} IN (SELECT value FROM json_each(?))`, values: [JSON.stringify(condition)] }
}
