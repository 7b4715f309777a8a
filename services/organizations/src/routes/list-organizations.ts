import { type FilterFields, invalidRequest, toFieldViolations } from '@fms/aip'
import { AllOrganizationsResponse, ListOrganizationsQuery, ListOrganizationsResponse } from '@fms/contracts'
import { organizationFields } from '@fms/directory-store'
import { readListQuery } from '@fms/service-kit'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { OrganizationsDeps } from '../app.ts'
import { toOrganization } from '../to-organization.ts'

/** What a filter may name (AIP-160). Nothing is searched. */
const filterFields: FilterFields = {
  fields: { createTime: { type: 'time' }, name: { type: 'string' }, slug: { type: 'string' } },
}

/**
 * List the caller's organizations: a page of them (AIP-132), oldest first unless `orderBy` says otherwise; or, with
 * `all=true`, every one in the order in which the memberships began.
 */
export const listOrganizations: FastifyPluginAsyncZod<OrganizationsDeps> = async (
  app,
  { directory, pageTokens },
) => {
  app.get(
    '/organizations',
    { schema: { response: { 200: z.union([ListOrganizationsResponse, AllOrganizationsResponse]) } } },
    async ({ identity: { userId }, query }) => {
      if (asksForAll(query)) {
        const organizations = await directory.listMemberships(userId)
        return { organizations: organizations.map(toOrganization) }
      }
      const { nextPageToken, ...list } = readListQuery(query, {
        contract: ListOrganizationsQuery,
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
const leftOut = z.never({ error: 'must be left out with all=true' }).optional()

/** With `all=true` there are no pages, and filter and orderBy may say what they want. */
const AllOrganizationsQuery = z.strictObject({
  all: z.literal('true'),
  filter: ignored,
  orderBy: ignored,
  pageSize: leftOut,
  pageToken: leftOut,
  skip: leftOut,
})

/** @throws {ApiError} INVALID_REQUEST for a query with `all=true` and what does not go with it. */
const asksForAll = (query: unknown): boolean => {
  if ((query as { all?: unknown }).all !== 'true') return false
  const { error } = AllOrganizationsQuery.safeParse(query)
  if (error) throw invalidRequest(toFieldViolations(error))
  return true
}
