export * from '../errors.ts'
export * from '../retry-on-conflict.ts'
export * from './filter-mongodb.ts'
export * from './inspect-mongodb.ts'
export * from './migrate-mongodb.ts'
export * from './mongodb-collection.ts'
export * from './mongodb-database.ts'
export { isTimeLimit } from './mongodb-errors.ts'
export * from './mongodb-list.ts'
export * from './mongodb-order.ts'
export * from './mongodb-schema.ts'
export { socketTimeoutMs } from './mongodb-timeouts.ts'
export {
  MongoTransaction,
  type TransactionOptions,
  type TransactionWrite,
} from './mongodb-transaction.ts'
