import { type List, type ListQuery, listOf } from './pages.ts'
import type { Organization, OrganizationOrderField } from './schemas.generated.ts'
import { pathOf } from './transport/references.ts'
import type { CallOptions, Transport } from './transport/transport.ts'

export interface Organizations {
  /** @param organization UUID or slug. */
  get(organization: string, options?: CallOptions): Promise<Organization>
  /** Lists organizations, by default oldest first. Fields for `filter`: `createTime`, `name`, `slug`. */
  list(query?: ListQuery<OrganizationOrderField>): List<Organization>
  /** All organizations in one response, in the order in which the user joined them. */
  all(options?: CallOptions): Promise<Organization[]>
}

export const organizationsOf = ({ send }: Transport): Organizations => ({
  async get(organization, { signal } = {}) {
    const path = pathOf(['organizations', organization])
    return (await send<Organization>({ method: 'GET', path, signal })).body
  },

  list: (query) => listOf(send, () => pathOf(['organizations']), 'organizations', query),

  async all({ signal } = {}) {
    const call = { method: 'GET', path: pathOf(['organizations']), query: { all: true }, signal } as const
    return (await send<{ organizations: Organization[] }>(call)).body.organizations
  },
})
