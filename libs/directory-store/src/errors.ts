import { apiError } from '@fms/aip'

/** Another user has the e-mail address, letter case ignored. */
export const emailTaken = (email: string) => apiError('EMAIL_TAKEN', { email })

/** Another organization has the slug. */
export const slugTaken = (slug: string) => apiError('SLUG_TAKEN', { slug })

/** The user is already a member, in any role. */
export const memberExists = (organizationId: string, userId: string) =>
  apiError('MEMBER_EXISTS', { organizationId, userId })

/** A key with the given text is stored already, as `keyId`. */
export const apiKeyExists = (keyId: string) => apiError('API_KEY_EXISTS', { keyId })

/** There is no user with the reference. @param user as given: an id or an e-mail address. */
export const userNotFound = (user: string) => apiError('USER_NOT_FOUND', { user })

/** There is no organization with the reference. @param organization as given: an id or a slug. */
export const organizationNotFound = (organization: string) =>
  apiError(
    'ORGANIZATION_NOT_FOUND',
    { organization },
    { message: `There is no organization ${organization}. Give the id or the slug of one that exists.` },
  )

/** The user is not a member of the organization. */
export const memberNotFound = (organizationId: string, userId: string) =>
  apiError('MEMBER_NOT_FOUND', { organizationId, userId })

/** The key is revoked or expired, and can be neither changed nor rotated. */
export const apiKeyEnded = (keyId: string) => apiError('API_KEY_ENDED', { keyId })

/** There is no key with the id. */
export const apiKeyNotFound = (keyId: string) => apiError('API_KEY_NOT_FOUND', { keyId })

/** The keys and login codes of the user are not valid until the user is enabled. */
export const userDisabled = (user: string) => apiError('USER_DISABLED', { user })

/**
 * The store has the record in another state, or another record with one of its unique values.
 *
 * @param record the subject of the record, from `directoryRecordName`, such as `user 5b0f…`.
 * @param clash the value that both have, such as `the same slug`.
 */
export const recordConflict = (record: string, clash: string) =>
  apiError('RECORD_CONFLICT', { record, clash })
