import type { CheckedFilter, OrderTerm } from '@fms/aip'
import type { DirectoryStore } from '../directory-store.ts'
import type { Change } from './change.ts'
import type { Conditions, Reading } from './reading.ts'
import type { Rows, TableName } from './rows.ts'

/** A page of rows in an order whose last field is unique. */
export interface PageQuery<T extends TableName> {
  table: T
  where: Conditions
  filter?: CheckedFilter | undefined
  /** The field of the table for each field of the filter. */
  filterFields?: Readonly<Record<string, string>>
  order: readonly OrderTerm[]
  /** The values of the order's fields in the last row of the previous page. */
  after?: readonly (string | number)[] | undefined
  limit: number
  skip: number
}

export interface RowPage<T extends TableName> {
  rows: Rows[T][]
  hasMore: boolean
  totalSize: number
}

/** The rules of the directory are in `operations/`, except for `authorize`, which every request of the API needs. */
export interface DirectoryTables extends Pick<DirectoryStore, 'authorize' | 'touchKey' | 'ping' | 'close'> {
  /** Runs a reading. On MongoDB other changes may happen between its queries. */
  read<R>(reading: () => Reading<R>): Promise<R>

  /**
   * Makes all writes of a change or none, on condition that what it has read still stands; else repeats it for up to 5 s.
   * Also after a refusal, and after a change without writes, no failover takes back what was read.
   * @throws the error of the change; {@link ApiError} STORE_UNAVAILABLE if other changes are always faster.
   */
  change<R>(change: () => Change<R>): Promise<R>

  page<T extends TableName>(query: PageQuery<T>): Promise<RowPage<T>>

  /** Streams all rows of a table in the order of its primary key. */
  stream<T extends TableName>(table: T): AsyncIterable<Rows[T]>
}
