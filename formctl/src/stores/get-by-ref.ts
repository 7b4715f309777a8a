import {
  type ApiKey,
  apiKeyNotFound,
  type DirectoryStore,
  organizationNotFound,
  type StoredOrganization,
  type User,
  userNotFound,
} from '@fms/directory-store'

/** @param ref an id or an e-mail address. @throws {ApiError} USER_NOT_FOUND */
export const getUserByRef = async (directory: DirectoryStore, ref: string): Promise<User> => {
  const user = await directory.findUser(ref)
  if (!user) throw userNotFound(ref)
  return user
}

/** @param ref an id or a slug. @throws {ApiError} ORGANIZATION_NOT_FOUND */
export const getOrganizationByRef = async (
  directory: DirectoryStore,
  ref: string,
): Promise<StoredOrganization> => {
  const organization = await directory.findOrganization(ref)
  if (!organization) throw organizationNotFound(ref)
  return organization
}

/** @throws {ApiError} API_KEY_NOT_FOUND */
export const getKeyById = async (directory: DirectoryStore, id: string): Promise<ApiKey> => {
  const key = (await directory.listKeys()).find(({ keyId }) => keyId === id.toLowerCase())
  if (!key) throw apiKeyNotFound(id)
  return key
}
