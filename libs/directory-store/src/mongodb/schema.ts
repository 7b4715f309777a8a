import type { MongoIndex, MongoSchema } from '@fms/store-kit/mongodb'

/** The indexes for sorted lists of organizations. A reverse scan gives the descending order. */
const orderIndexes: MongoIndex[] = ['name', 'organizationCreateTime'].map((field) => ({
  collection: 'members',
  name: `members_by_${field}`,
  key: { userId: 1, [field]: 1, slug: 1 },
}))

/** The directory stays on one shard: e-mail addresses, slugs and key hashes are unique in all of it. */
export const directorySchema: MongoSchema = {
  store: 'directory',
  version: 1,
  oldestVersion: 1,
  indexes: [
    { collection: 'users', name: 'users_by_email', key: { email: 1 }, unique: true },
    { collection: 'organizations', name: 'organizations_by_slug', key: { slug: 1 }, unique: true },
    {
      collection: 'members',
      name: 'members_by_organization',
      key: { userId: 1, organizationId: 1 },
      unique: true,
    },
    { collection: 'members', name: 'members_of_organization', key: { organizationId: 1 } },
    { collection: 'members', name: 'members_by_begin', key: { userId: 1, createTime: 1 }, unique: true },
    { collection: 'members', name: 'members_by_slug', key: { userId: 1, slug: 1 } },
    ...orderIndexes,
    { collection: 'keys', name: 'keys_by_hash', key: { hash: 1 }, unique: true },
    { collection: 'keys', name: 'keys_by_create_time', key: { createTime: 1, _id: 1 } },
    { collection: 'keys', name: 'keys_by_user', key: { userId: 1, createTime: 1, _id: 1 } },
    // Also creates the collection: transactions that do so at the same time exclude each other.
    { collection: 'loginCodes', name: 'login_codes_by_expire_time', key: { expireTime: 1 } },
  ],
}
