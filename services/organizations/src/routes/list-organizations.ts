import { type FilterFields, invalidRequest, readListQuery, toFieldViolations } from '@fms/aip'
import { AllOrganizationsResponse, ListOrganizationsQuery, ListOrganizationsResponse } from '@fms/contracts'
import { organizationFields } from '@fms/directory-store'
import type { AddRoute } from '@fms/service-kit'
import { z } from 'zod'
import type { OrganizationsDeps } from '../deps.ts'
import { toOrganization } from '../to-organization.ts'

/** The fields for filters (AIP-160). There is no search. */
const filterFields: FilterFields = {
  fields: { createTime: { type: 'time' }, name: { type: 'string' }, slug: { type: 'string' } },
}

/** List the caller's organizations (AIP-132): a page, or, with `all=true`, all in the order in which the caller joined. */
export const listOrganizations: AddRoute<OrganizationsDeps> = (app, { directory, pageTokens }) => {
  app.get(
    '/organizations',
    { schema: { response: { 200: z.union([ListOrganizationsResponse, AllOrganizationsResponse]) } } },
    async ({ identity: { userId }, query }) => {
      if (isForAll(query)) {
        const memberships = await directory.listMemberships(userId)
        return { organizations: memberships.map(({ organization }) => toOrganization(organization)) }
      }
      const { nextPageToken, ...list } = readListQuery(query, {
        schema: ListOrganizationsQuery,
        filterFields,
        orderFields: organizationFields,
        scope: ['organizations', userId],
        pageTokens,
      })
      const { organizations, next, totalSize } = await directory.listOrganizations({ userId, ...list })
      return {
        nextPageToken: nextPageToken(next),
        totalSize,
        organizations: organizations.map(toOrganization),
      }
    },
  )
}

const ignored = z.string({ error: 'must be given once' }).optional()
const forbidden = z.never({ error: 'must be left out with all=true' }).optional()

/** A query with `all=true`: rejects paging parameters and ignores `filter` and `orderBy`. */
const AllOrganizationsQuery = z.strictObject({
  all: z.literal('true'),
  filter: ignored,
  orderBy: ignored,
  pageSize: forbidden,
  pageToken: forbidden,
  skip: forbidden,
})

/** Whether a query has `all=true`. @throws {ApiError} INVALID_REQUEST if it has an unknown or forbidden parameter, too. */
const isForAll = (query: unknown): boolean => {
  if ((query as { all?: unknown }).all !== 'true') return false
  const { error } = AllOrganizationsQuery.safeParse(query)
  if (error) throw invalidRequest(toFieldViolations(error))
  return true
}
