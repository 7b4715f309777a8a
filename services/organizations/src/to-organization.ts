import { type Organization, organizationPath } from '@fms/contracts'
import type { StoredOrganization } from '@fms/directory-store'

export const toOrganization = (stored: StoredOrganization): Organization => ({
  createTime: stored.createTime.toISOString(),
  logo: stored.logo,
  metadata: stored.metadata,
  name: stored.name,
  path: organizationPath(stored.organizationId),
  slug: stored.slug,
})
