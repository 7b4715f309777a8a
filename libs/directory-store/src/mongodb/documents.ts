import type { MongoDocument, TransactionWrite } from '@fms/store-kit/mongodb'
import type { Write } from '../tables/change.ts'
import type { Condition, Conditions } from '../tables/reading.ts'
import { primaryKeys, type Rows, type TableName } from '../tables/rows.ts'

/** The name of a row's field in its document. */
export const toField = (table: TableName, field: string): string => (field === idField(table) ? '_id' : field)

/** The field of a row that is the `_id` of its document. */
const idField = (table: TableName): string | undefined => {
  const [field, ...others] = primaryKeys[table]
  return others.length === 0 ? field : undefined
}

/** A row, with a primary key of one field as `_id`. */
const toDocument = (table: TableName, row: object): MongoDocument =>
  Object.fromEntries(Object.entries(row).map(([field, value]) => [toField(table, field), value]))

export const toRow = <T extends TableName>(table: T, { _id, ...fields }: MongoDocument): Rows[T] => {
  const id = idField(table)
  return (id === undefined ? fields : { [id]: _id, ...fields }) as Rows[T]
}

/** The query for the documents that meet conditions. */
export const toQuery = (table: TableName, where: Conditions): MongoDocument =>
  Object.fromEntries(
    Object.entries(where).map(([field, condition]) => [toField(table, field), toOperator(condition)]),
  )

const toOperator = (condition: Condition): unknown => {
  if (condition === null || typeof condition !== 'object') return condition
  if ('atMost' in condition) return { $lte: condition.atMost }
  if ('nullOrAfter' in condition) return { $not: { $lte: condition.nullOrAfter } }
  return { $in: condition }
}

export const toTransactionWrite = (write: Write): TransactionWrite => {
  const { table: collection } = write
  if (write.kind === 'insert') return { collection, insert: toDocument(collection, write.row) }
  const query = toQuery(collection, write.where)
  if (write.kind === 'delete') return { collection, deleteMany: query }
  if (write.kind === 'lock') return { collection, update: query, by: { $inc: { locks: 1 } } }
  return { collection, updateMany: query, by: { $set: write.fields } }
}
