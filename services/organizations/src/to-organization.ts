import { type Organization, organizationPath } from '@fms/contracts'
import type { StoredOrganization } from '@fms/directory-store'

/** Converts a stored organization to the resource of the API. */
export const toOrganization = ({
  organizationId,
  createTime,
  logo,
  metadata,
  name,
  slug,
}: StoredOrganization): Organization => ({
  createTime: createTime.toISOString(),
  logo,
  metadata,
  name,
  path: organizationPath(organizationId),
  slug,
})
