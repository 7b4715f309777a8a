import type { MongoIndex, MongoSchema } from '@fms/store-kit/mongodb'

const descending = -1

/** One index per order. A backward scan gives the descending order. */
const orders: MongoIndex[] = ['name', 'createTime', 'updateTime', 'replyCount'].map((field) => ({
  collection: 'forms',
  name: `forms_by_${field}`,
  key: { organizationId: 1, [field]: 1, publicId: 1 },
}))

/** The default order: its ties ascend. */
const byDefault: MongoIndex = {
  collection: 'forms',
  name: 'forms_by_updateTime_desc',
  key: { organizationId: 1, updateTime: descending, publicId: 1 },
}

/** Covers all fields of orders and filters. Orders of several fields sort its entries instead of documents. */
export const coveringIndex = {
  index: 'forms_by_order',
  fields: ['publicId', 'updateTime', 'name', 'foldedName', 'type', 'createTime', 'replyCount'],
  key: 'publicId',
} as const

const covering: MongoIndex = {
  collection: 'forms',
  name: coveringIndex.index,
  key: { organizationId: 1, ...Object.fromEntries(coveringIndex.fields.map((field) => [field, 1 as const])) },
}

/** For texts that names contain. */
const byTrigram: MongoIndex = {
  collection: 'forms',
  name: 'forms_by_nameTrigrams',
  key: { organizationId: 1, nameTrigrams: 1 },
}

/**
 * The indexes beside those of `_id`. The shard key is organizationId: every query contains it and every unique index
 * begins with it. `publicIds` is sharded by its `_id`, which makes a public id unique over all shards.
 */
export const formsSchema: MongoSchema = {
  store: 'forms',
  version: 2,
  // Version 1 stores forms without `bytes` and `nameTrigrams`.
  oldestVersion: 2,
  indexes: [
    ...orders,
    byDefault,
    covering,
    byTrigram,
    { collection: 'forms', name: 'forms_by_publicId', key: { organizationId: 1, publicId: 1 }, unique: true },
    {
      collection: 'revisions',
      name: 'revisions_by_command',
      key: { organizationId: 1, commandId: 1 },
      unique: true,
    },
    {
      collection: 'revisions',
      name: 'revisions_by_number',
      key: { organizationId: 1, formId: 1, number: descending },
      unique: true,
    },
    {
      collection: 'replies',
      name: 'replies_by_form',
      key: { organizationId: 1, formId: 1, replyId: 1 },
      unique: true,
    },
    { collection: 'forms', name: 'forms_by_bytes', key: { organizationId: 1, bytes: 1 } },
    { collection: 'revisions', name: 'revisions_by_bytes', key: { organizationId: 1, bytes: 1 } },
    { collection: 'deletions', name: 'deletions_by_organization', key: { organizationId: 1 } },
  ],
}
