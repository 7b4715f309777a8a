import { apiError } from '@fms/aip'
import { keyPath } from '@fms/contracts'

/**
 * The user has no live key with the id. Revoked and expired keys, and those of other users, have the same error.
 *
 * @param keyId as given: any text.
 */
export const keyNotFound = (keyId: string) => apiError('KEY_NOT_FOUND', { key: keyPath(keyId) })

/** The user has as many live keys as a user may create with the API. */
export const tooManyKeys = (limit: number) => apiError('TOO_MANY_KEYS', { limit: `${limit}` })

/**
 * An earlier request with this `requestId` has created the key. Its secret is not stored, so no response can show it
 * again.
 */
export const keyAlreadyCreated = (requestId: string, keyId: string) =>
  apiError('KEY_ALREADY_CREATED', { requestId, key: keyPath(keyId) })
