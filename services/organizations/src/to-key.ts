import { type IssuedKey, type Key, keyPath, nilUuid, type User, userPath } from '@fms/contracts'
import type { ApiKey, IssuedApiKey, User as StoredUser } from '@fms/directory-store'

/** Converts a stored key to the resource. @param currentId the key of the request; absent for a sign-in. */
export const toKey = (
  { keyId, name, prefix, readOnly, createTime, lastUsedTime, expireTime }: ApiKey,
  currentId?: string,
): Key => ({
  path: keyPath(keyId),
  name,
  prefix,
  readOnly,
  createTime: createTime.toISOString(),
  lastUsedTime: lastUsedTime?.toISOString() ?? '',
  expireTime: expireTime?.toISOString() ?? '',
  current: keyId === currentId,
})

/** Responses with the secret of a key, which no cache may store. */
export const secretHeaders = { 'cache-control': 'no-store' }

export const toIssuedKey = ({ key, apiKey }: IssuedApiKey): IssuedKey => ({ key: toKey(apiKey), secret: key })

/** The key that a dry run would have created. What is not known yet is empty. */
export const toDryRun = ({ apiKey }: IssuedApiKey): IssuedKey => ({
  key: toKey({ ...apiKey, keyId: nilUuid, prefix: '' }),
  secret: '',
})

export const toUser = ({ userId, email, createTime }: StoredUser): User => ({
  path: userPath(userId),
  email,
  createTime: createTime.toISOString(),
})
