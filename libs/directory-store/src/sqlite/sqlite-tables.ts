import type { Role } from '@fms/contracts'
import {
  afterPosition,
  allOf,
  filterSql,
  orderSql,
  pageSql,
  type Row,
  type SqlCondition,
  SqliteDatabase,
} from '@fms/store-kit'
import { whereOrganization } from '../references.ts'
import type { Change, Write } from '../tables/change.ts'
import type { DirectoryTables, PageQuery, RowPage } from '../tables/directory-tables.ts'
import { type Condition, type Conditions, type Query, type Reading, runReading } from '../tables/reading.ts'
import { type KeyRow, primaryKeys, type Rows, type TableName, toApiKey } from '../tables/rows.ts'
import { migrations } from './schema.ts'

/** Number of rows per query of an export. */
const streamedRows = 500

/** The tables of a directory on SQLite: one file, shared by the processes of one machine. */
export class SqliteTables implements DirectoryTables {
  readonly #database: SqliteDatabase

  /**
   * @param path a file, or `:memory:`.
   * @param options `readOnly` neither creates nor migrates the file.
   */
  constructor(path: string, { readOnly }: { readOnly?: boolean } = {}) {
    this.#database = new SqliteDatabase(path, migrations, { readOnly })
  }

  /** Reads one state of the file. */
  async read<R>(reading: () => Reading<R>): Promise<R> {
    return this.#database.snapshot(() => this.#run(reading()))
  }

  async change<R>(change: () => Change<R>): Promise<R> {
    // A change that is refused or writes nothing takes no write lock.
    const preview = await this.read(change)
    if (preview.writes.length === 0) return preview.result
    return this.#database.write(() => {
      const { result, writes } = this.#run(change())
      for (const write of writes) this.#apply(write)
      return result
    })
  }

  insert<T extends TableName>(table: T, row: Rows[T]): Promise<boolean> {
    const [columns, values] = [Object.keys(row), Object.values(toRow(row))]
    const marks = columns.map(() => '?')
    const sql = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${marks.join(', ')}) ON CONFLICT DO NOTHING`
    return this.#database.write(() => this.#database.run(sql, ...values) === 1)
  }

  async page<T extends TableName>(query: PageQuery<T>): Promise<RowPage<T>> {
    const { table, filter, filterFields = {}, order, after, limit, skip } = query
    const matches = allOf(whereSql(query.where), filter && filterSql(filter, filterFields))
    const rest = allOf(matches, after && afterPosition(order, after))
    const sql = `SELECT * FROM ${table} WHERE ${rest.sql} ORDER BY ${orderSql(order)} ${pageSql}`
    const rows = this.#database.all(sql, ...rest.values, limit + 1, skip)
    const countSql = `SELECT count(*) AS total FROM ${table} WHERE ${matches.sql}`
    return {
      rows: rows.slice(0, limit) as unknown[] as Rows[T][],
      hasMore: rows.length > limit,
      totalSize: this.#database.get(countSql, ...matches.values)?.total as number,
    }
  }

  async *stream<T extends TableName>(table: T): AsyncGenerator<Rows[T]> {
    const order = primaryKeys[table].map((field) => ({ field, descending: false }))
    let after: SqlCondition = { sql: 'TRUE', values: [] }
    for (;;) {
      const sql = `SELECT * FROM ${table} WHERE ${after.sql} ORDER BY ${orderSql(order)} LIMIT ${streamedRows}`
      const rows = this.#database.all(sql, ...after.values)
      yield* rows as unknown[] as Rows[T][]
      const last = rows.at(-1)
      if (!last || rows.length < streamedRows) return
      after = afterPosition(
        order,
        primaryKeys[table].map((column) => last[column]!),
      )
    }
  }

  /** Indexes: keys.hash, organizations.slug or the primary key, and the primary keys of users and members. */
  readonly authorize: DirectoryTables['authorize'] = async ({ keyHash, organizationRef = '' }, now) => {
    const organization = whereSql(whereOrganization(organizationRef), 'organizations.')
    const row = this.#database.get(
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
  }

  async touchKey(keyId: string, time: Date): Promise<void> {
    const sql = 'UPDATE keys SET lastUsedTime = max(coalesce(lastUsedTime, 0), ?) WHERE keyId = ?'
    await this.#database.write(() => this.#database.run(sql, time.getTime(), keyId))
  }

  async ping(): Promise<void> {
    this.#database.ping()
  }

  close(): Promise<void> {
    return this.#database.close()
  }

  #run<R>(reading: Reading<R>): R {
    return runReading(reading, (query) => this.#fetch(query))
  }

  #fetch({ table, where, fields = ['*'], order, limit }: Query): Row[] {
    const { sql, values } = whereSql(where)
    const orderBy = order.length > 0 ? ` ORDER BY ${orderSql(order)}` : ''
    const limited = limit === undefined ? '' : ` LIMIT ${limit}`
    return this.#database.all(
      `SELECT ${fields.join(', ')} FROM ${table} WHERE ${sql}${orderBy}${limited}`,
      ...values,
    )
  }

  /** A lock needs nothing: SQLite makes one change after another. */
  #apply(write: Write): void {
    if (write.kind === 'insert') this.#database.insert(write.table, toRow(write.row))
    if (write.kind === 'delete') {
      const { sql, values } = whereSql(write.where)
      this.#database.run(`DELETE FROM ${write.table} WHERE ${sql}`, ...values)
    }
    if (write.kind === 'update') {
      const { sql, values } = whereSql(write.where)
      const fields = toRow(write.fields)
      const sets = Object.keys(fields).map((column) => `${column} = ?`)
      const update = `UPDATE ${write.table} SET ${sets.join(', ')} WHERE ${sql}`
      this.#database.run(update, ...Object.values(fields), ...values)
    }
  }
}

/** SQLite has no booleans. */
const toRow = (fields: object): Row =>
  Object.fromEntries(
    Object.entries(fields).map(([column, value]) => [
      column,
      typeof value === 'boolean' ? Number(value) : value,
    ]),
  )

/** The SQL of conditions on columns. @param prefix of the columns, such as `organizations.`. */
const whereSql = (where: Conditions, prefix = ''): SqlCondition => {
  const conditions = Object.entries(where).map(([field, condition]) => columnSql(prefix + field, condition))
  return conditions.length > 0 ? allOf(...conditions) : { sql: 'TRUE', values: [] }
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
