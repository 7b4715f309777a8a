import { ApiError } from '@fms/aip'

/** EMAIL_TAKEN: another user has the e-mail address, letter case ignored. */
export const emailTaken = (email: string) =>
  new ApiError(
    'ALREADY_EXISTS',
    'EMAIL_TAKEN',
    `A user with the e-mail address ${email} exists already. Use that user, or give another address.`,
    { metadata: { email } },
  )

/** SLUG_TAKEN: another organization has the slug. */
export const slugTaken = (slug: string) =>
  new ApiError(
    'ALREADY_EXISTS',
    'SLUG_TAKEN',
    `An organization with the slug ${slug} exists already. Use that organization, or give another slug.`,
    { metadata: { slug } },
  )

/** MEMBER_EXISTS: the user is already a member, in any role. */
export const memberExists = (organizationId: string, userId: string) =>
  new ApiError(
    'ALREADY_EXISTS',
    'MEMBER_EXISTS',
    `User ${userId} is a member of organization ${organizationId} already. Set the member's role instead.`,
    { metadata: { organizationId, userId } },
  )

/** API_KEY_EXISTS: a key with the given text is stored already, as `keyId`. */
export const apiKeyExists = (keyId: string) =>
  new ApiError(
    'ALREADY_EXISTS',
    'API_KEY_EXISTS',
    `This API key exists already, with the id ${keyId}. Use it as it is, or give another key.`,
    { metadata: { keyId } },
  )

/**
 * USER_NOT_FOUND: there is no user with the reference.
 *
 * @param user the reference as given: an id or an e-mail address.
 */
export const userNotFound = (user: string) =>
  new ApiError(
    'NOT_FOUND',
    'USER_NOT_FOUND',
    `There is no user ${user}. Give the id or the e-mail address of one that exists, or create the user first.`,
    { metadata: { user } },
  )

/**
 * ORGANIZATION_NOT_FOUND: there is no organization with the reference.
 *
 * @param organization the reference as given: an id or a slug.
 */
export const organizationNotFound = (organization: string) =>
  new ApiError(
    'NOT_FOUND',
    'ORGANIZATION_NOT_FOUND',
    `There is no organization ${organization}. Give the id or the slug of one that exists.`,
    { metadata: { organization } },
  )

/** MEMBER_NOT_FOUND: the user is not a member of the organization. */
export const memberNotFound = (organizationId: string, userId: string) =>
  new ApiError(
    'NOT_FOUND',
    'MEMBER_NOT_FOUND',
    `User ${userId} is not a member of organization ${organizationId}. Add the member first.`,
    { metadata: { organizationId, userId } },
  )

/** API_KEY_ENDED: the key is revoked or expired, and can be neither changed nor rotated. */
export const apiKeyEnded = (keyId: string) =>
  new ApiError(
    'FAILED_PRECONDITION',
    'API_KEY_ENDED',
    `The API key ${keyId} is revoked or expired already. Create a new key instead.`,
    { metadata: { keyId } },
  )

/** API_KEY_NOT_FOUND: there is no key with the id. */
export const apiKeyNotFound = (keyId: string) =>
  new ApiError(
    'NOT_FOUND',
    'API_KEY_NOT_FOUND',
    `There is no API key with the id ${keyId}. List the keys for their ids.`,
    { metadata: { keyId } },
  )

/** USER_DISABLED: the keys and login codes of the user are not valid until the user is enabled. */
export const userDisabled = (user: string) =>
  new ApiError(
    'FAILED_PRECONDITION',
    'USER_DISABLED',
    `The user ${user} is disabled and cannot sign in. Enable the user first.`,
    { metadata: { user } },
  )

/**
 * RECORD_CONFLICT: the store has the record in another state, or another record with one of its unique values.
 *
 * @param record the subject of the record, from `directoryRecordName`, such as `user 5b0f…`.
 * @param clash the value that both have, such as `the same slug`.
 */
export const recordConflict = (record: string, clash: string) =>
  new ApiError(
    'ALREADY_EXISTS',
    'RECORD_CONFLICT',
    `The directory has a different record with ${clash} as ${record}, which was not imported. Import into a directory without that record.`,
    { metadata: { record, clash } },
  )
