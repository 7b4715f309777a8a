import { ApiError, type OrderTerm } from '@fms/aip'
import { takeUpTo } from '@fms/store-kit'
import {
  conflictDeadline,
  MongoDatabase,
  type MongoDocument,
  MongoList,
  type MongoTransaction,
  mongoSort,
  retryOnConflict,
  storeUnavailable,
} from '@fms/store-kit/mongodb'
import { hasEnded } from '../api-key.ts'
import { whereOrganization } from '../references.ts'
import type { Change } from '../tables/change.ts'
import type { DirectoryTables } from '../tables/directory-tables.ts'
import { awaitReading, type Conditions, type Query } from '../tables/reading.ts'
import { primaryKeys, type TableName, toApiKey } from '../tables/rows.ts'
import { toField, toQuery, toRow, toTransactionWrite } from './documents.ts'
import { directorySchema } from './schema.ts'

/** How long the engine may work on each read of an authorization; the gateway waits for 2,000 ms. */
const authorizeTimeoutMs = 1_000

/** Every change is one transaction. @param timeoutMs how long MongoDB may work on a request, in ms; 5,000 by default. */
export const mongodbTables = (url: string, timeoutMs?: number): DirectoryTables => {
  const database = new MongoDatabase(url, directorySchema, timeoutMs ? { engineTimeoutMs: timeoutMs } : {})
  const collection = (table: TableName) => database.collection<MongoDocument>(table)

  const findNow = async <T extends TableName>(table: T, where: Conditions, fields?: string[]) => {
    const document = await collection(table).findOne(toQuery(table, where), fields, authorizeTimeoutMs)
    return document && toRow(table, document)
  }

  const findMemberNow = async (userId: string, organizationRef: string) => {
    const where = whereOrganization(organizationRef)
    const organization = 'slug' in where ? await findNow('organizations', where, ['_id']) : where
    return organization && findNow('members', { userId, organizationId: organization.organizationId })
  }

  return {
    read: (reading) =>
      awaitReading(reading(), (query) => {
        const found = collection(query.table).find(...toFind(query))
        return Array.fromAsync(found, (document) => toRow(query.table, document))
      }),

    async change(change) {
      const deadline = conflictDeadline()
      const attempt = () => database.transaction((transaction) => decide(transaction, change), { deadline })
      const onGiveUp = () => storeUnavailable(new Error('Other changes of the directory keep being faster'))
      const outcome = await retryOnConflict(attempt, onGiveUp, deadline)
      if ('refusal' in outcome) throw outcome.refusal
      return outcome.result
    },

    async page({ table, where, filterFields = {}, order, filter, after, limit, skip }) {
      const list = new MongoList(collection(table), {
        scope: toQuery(table, where),
        fields: filterFields,
        order: toOrder(table, order),
        ...{ filter, after, limit, skip },
      })
      const [{ taken, more }, totalSize] = await Promise.all([takeUpTo(limit, list.items()), list.count()])
      return { rows: taken.map((document) => toRow(table, document)), hasMore: more, totalSize }
    },

    async *stream(table) {
      const sort = Object.fromEntries(primaryKeys[table].map((field) => [toField(table, field), 1 as const]))
      for await (const document of collection(table).find({}, { sort })) yield toRow(table, document)
    },

    /** Indexes: keys_by_hash, `_id`, organizations_by_slug and members_by_organization. */
    async authorize({ keyHash, organizationRef }, now) {
      const row = await findNow('keys', { hash: keyHash, revokeTime: null })
      if (!row || hasEnded(row, now)) return undefined
      const { userId } = row
      const [user, member] = await Promise.all([
        findNow('users', { userId, disableTime: null }),
        organizationRef ? findMemberNow(userId, organizationRef) : undefined,
      ])
      if (!user) return undefined
      const key = toApiKey(row)
      if (!member) return { key }
      return { key, organization: { organizationId: member.organizationId, role: member.role } }
    },

    async touchKey(keyId, time) {
      const lastUsedTime = time.getTime()
      const isEarlier = [{ lastUsedTime: null }, { lastUsedTime: { $lt: lastUsedTime } }]
      await collection('keys').set({ _id: keyId, $or: isEarlier }, { lastUsedTime })
    },

    ping: () => database.ping(directorySchema),

    close: () => database.close(),
  }
}

/** Decides a change in a transaction, and sends its writes in one request. */
const decide = async <R>(transaction: MongoTransaction, change: () => Change<R>) => {
  const fetch = async (query: Query) => {
    const found = await transaction.find<MongoDocument>(query.table, ...toFind(query))
    return found.map((document) => toRow(query.table, document))
  }
  try {
    const { result, writes } = await awaitReading(change(), fetch)
    if (writes.length > 0) await transaction.write(writes.map(toTransactionWrite))
    return { result }
  } catch (error) {
    // Returned, so that the transaction commits: what has led to the refusal is confirmed by a majority.
    if (error instanceof ApiError) return { refusal: error }
    throw error
  }
}

const toOrder = (table: TableName, order: readonly OrderTerm[]): OrderTerm[] =>
  order.map(({ field, descending }) => ({ field: toField(table, field), descending }))

const toFind = ({ table, where, fields, order, limit }: Query) =>
  [
    toQuery(table, where),
    {
      ...(order.length > 0 && { sort: mongoSort(toOrder(table, order)) }),
      ...(fields && { fields: fields.map((field) => toField(table, field)) }),
      ...(limit !== undefined && { limit }),
    },
  ] as const
