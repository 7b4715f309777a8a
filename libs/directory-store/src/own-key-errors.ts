import { ApiError } from '@fms/aip'
import { keyPath } from '@fms/contracts'

/**
 * KEY_NOT_FOUND: the user has no live key with the id. Revoked and expired keys, and those of other users, have the same
 * error.
 *
 * @param keyId as given: any text.
 */
export const keyNotFound = (keyId: string) =>
  new ApiError(
    'NOT_FOUND',
    'KEY_NOT_FOUND',
    `You have no API key ${keyPath(keyId)}, or it is revoked or expired. List your keys.`,
    { metadata: { key: keyPath(keyId) } },
  )

/** TOO_MANY_KEYS: the user has as many live keys as a user may create with the API. */
export const tooManyKeys = (limit: number) =>
  new ApiError(
    'FAILED_PRECONDITION',
    'TOO_MANY_KEYS',
    `You have ${limit} API keys, the most that a user may create. Delete keys that are no longer needed, then repeat the request.`,
    { metadata: { limit: `${limit}` } },
  )

/**
 * KEY_ALREADY_CREATED: an earlier request with this `requestId` has created the key. Its secret is not stored, so no
 * response can show it again.
 */
export const keyAlreadyCreated = (requestId: string, keyId: string) =>
  new ApiError(
    'ALREADY_EXISTS',
    'KEY_ALREADY_CREATED',
    `The requestId ${requestId} has created ${keyPath(keyId)} already, and its secret cannot be shown again. If you do not have the secret, delete that key and create another one with a new requestId.`,
    { metadata: { requestId, key: keyPath(keyId) } },
  )
