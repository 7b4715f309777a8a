import { type List, type ListQuery, listOf } from './pages.ts'
import { pathOf } from './references.ts'
import type { Organization } from './resources/organization.ts'
import type { CallOptions, Transport } from './transport.ts'

/** The organizations that the key's user is a member of. */
export interface Organizations {
  /** @param organization UUID or slug. */
  get(organization: string, options?: CallOptions): Promise<Organization>
  /** Oldest first, unless `orderBy` says otherwise: `createTime`, `name`, `slug`, for the filter, too. */
  list(query?: ListQuery): List<Organization>
  /** All of them at once, in the order in which the user became a member. */
  all(options?: CallOptions): Promise<Organization[]>
}

export const organizationsOf = ({ send }: Transport): Organizations => ({
  async get(organization, { signal } = {}) {
    const path = pathOf(['organizations', organization])
    return (await send<Organization>({ method: 'GET', path, signal })).body
  },

  list: ({ filter, orderBy, signal, ...place } = {}) =>
    listOf(place, async ({ pageSize, ...from }) => {
      const query = { pageSize, filter, orderBy, ...from }
      const { organizations: items, ...page } = (
        await send<OrganizationsPage>({ method: 'GET', path: pathOf(['organizations']), query, signal })
      ).body
      return { items, ...page }
    }),

  async all({ signal } = {}) {
    const call = { method: 'GET', path: pathOf(['organizations']), query: { all: true }, signal } as const
    return (await send<Pick<OrganizationsPage, 'organizations'>>(call)).body.organizations
  },
})

interface OrganizationsPage {
  organizations: Organization[]
  totalSize: number
  nextPageToken: string
}
