import { type Organization, organizationPath } from '@fms/contracts'
import type { StoredOrganization } from '@fms/directory-store'

/** The contract's shape of a stored organization. */
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
