import { type IssuedKey, type Key, keyPath, nilUuid, type User, userPath } from '@fms/contracts'
import type { ApiKey, IssuedApiKey, User as StoredUser } from '@fms/directory-store'
import type { FastifyReply } from 'fastify'

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

/** The response with the secret of a new key, which no cache may store. In a dry run, what is not known yet is empty. */
export const issuedKey = (
  reply: FastifyReply,
  { key, apiKey }: IssuedApiKey,
  isDryRun: boolean,
): IssuedKey => {
  reply.header('cache-control', 'no-store')
  if (isDryRun) return { key: toKey({ ...apiKey, keyId: nilUuid, prefix: '' }), secret: '' }
  return { key: toKey(apiKey), secret: key }
}

export const toUser = ({ userId, email, createTime }: StoredUser): User => ({
  path: userPath(userId),
  email,
  createTime: createTime.toISOString(),
})
