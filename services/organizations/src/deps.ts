import type { PageTokens } from '@fms/aip'
import type { DirectoryStore } from '@fms/directory-store'

export interface OrganizationsDeps {
  directory: DirectoryStore
  pageTokens: PageTokens
  now: () => Date
}
