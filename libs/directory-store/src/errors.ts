import { apiError } from '@fms/aip'
import { keyPath } from '@fms/contracts'

/** There is no user with the reference. @param user as given: an id or an e-mail address. */
export const userNotFound = (user: string) => apiError('USER_NOT_FOUND', { user })

/** There is no organization with the reference. @param organization as given: an id or a slug. */
export const organizationNotFound = (organization: string) =>
  apiError(
    'ORGANIZATION_NOT_FOUND',
    { organization },
    { message: `There is no organization ${organization}. Give the id or the slug of one that exists.` },
  )

/** The key is revoked or expired, and can be neither changed nor rotated. */
export const apiKeyEnded = (keyId: string) => apiError('API_KEY_ENDED', { keyId })

export const apiKeyNotFound = (keyId: string) => apiError('API_KEY_NOT_FOUND', { keyId })

/** The user has no live key with the id. Ended keys, and those of other users, have the same error. */
export const keyNotFound = (keyId: string) => apiError('KEY_NOT_FOUND', { key: keyPath(keyId) })

/** The store has another state of `record` (`user 5b0f…`), or another one with its `clash` (`the same slug`). */
export const recordConflict = (record: string, clash: string) =>
  apiError('RECORD_CONFLICT', { record, clash })
