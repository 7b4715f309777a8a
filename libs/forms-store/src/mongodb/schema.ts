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

/** The fields that unique indexes of a form's revisions and replies begin with. */
const byIncarnation = { organizationId: 1, formId: 1, incarnation: 1 } as const

/**
 * The indexes beside those of `_id`. The shard key is organizationId: every query contains it and every unique index
 * begins with it. `publicIds` and `commands` are sharded by `_id`, which makes their ids unique over all shards.
 */
export const formsSchema: MongoSchema = {
  store: 'forms',
  version: 3,
  // Version 2 stores forms without an incarnation.
  oldestVersion: 3,
  indexes: [
    ...orders,
    byDefault,
    covering,
    byTrigram,
    { collection: 'forms', name: 'forms_by_publicId', key: { organizationId: 1, publicId: 1 }, unique: true },
    {
      collection: 'revisions',
      name: 'revisions_by_incarnation',
      key: { ...byIncarnation, number: descending },
      unique: true,
    },
    {
      collection: 'revisions',
      name: 'revisions_by_commandId',
      key: { ...byIncarnation, commandId: 1 },
      unique: true,
    },
    { collection: 'revisions', name: 'revisions_by_id', key: { organizationId: 1, revisionId: 1 } },
    {
      collection: 'replies',
      name: 'replies_by_incarnation',
      key: { ...byIncarnation, replyId: 1 },
      unique: true,
    },
    { collection: 'commands', name: 'commands_by_form', key: { organizationId: 1, formId: 1 } },
    { collection: 'forms', name: 'forms_by_bytes', key: { organizationId: 1, bytes: 1 } },
    { collection: 'revisions', name: 'revisions_by_bytes', key: { organizationId: 1, bytes: 1 } },
    { collection: 'deletions', name: 'deletions_by_clearTime', key: { clearTime: 1 } },
  ],
}
