import type { PageTokens } from '@fms/aip'
import type { DirectoryStore } from '@fms/directory-store'

/** The dependencies of the routes. `now` is the clock, which tests set. */
export interface OrganizationsDeps {
  directory: DirectoryStore
  pageTokens: PageTokens
  now: () => Date
}
