import type { MongoIndex, MongoSchema } from '@fms/store-kit/mongodb'

const descending = -1

/** In descending orders, too, publicId breaks ties ascending; a walk backwards through an index would not. */
const orders: MongoIndex[] = ['name', 'createTime', 'updateTime', 'replyCount'].flatMap((field) => [
  { collection: 'forms', name: `forms_by_${field}`, key: { organizationId: 1, [field]: 1, publicId: 1 } },
  {
    collection: 'forms',
    name: `forms_by_${field}_desc`,
    key: { organizationId: 1, [field]: descending, publicId: 1 },
  },
])

/**
 * The indexes beside those of `_id`. The shard key is organizationId, which every query names and every unique index
 * begins with; `publicIds` is sharded by its `_id`, which makes a public id unique over all shards.
 */
export const formsSchema: MongoSchema = {
  store: 'forms',
  version: 2,
  indexes: [
    ...orders,
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
