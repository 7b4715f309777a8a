import { getOrganizationByRef } from './get-by-ref.ts'
import { openDirectory } from './open-stores.ts'

/** @param ref an id or a slug. @throws {ApiError} ORGANIZATION_NOT_FOUND */
export const findOrganizationId = async (ref: string): Promise<string> => {
  await using directory = await openDirectory()
  return (await getOrganizationByRef(directory, ref)).organizationId
}

/** @returns undefined for undefined. @throws {ApiError} ORGANIZATION_NOT_FOUND */
export const findOptionalOrganizationId = async (ref: string | undefined): Promise<string | undefined> =>
  ref === undefined ? undefined : findOrganizationId(ref)
