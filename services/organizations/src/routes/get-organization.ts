import { NoQuery, Organization } from '@fms/contracts'
import { type AddRoute, organizationNotFound } from '@fms/service-kit'
import { z } from 'zod'
import type { OrganizationsDeps } from '../deps.ts'
import { toOrganization } from '../to-organization.ts'

/** `organizationRef` is a canonical id or a slug. Any other text is not found. */
const OrganizationParams = z.object({ organizationRef: z.string() })

/** Get an organization of which the caller is a member (AIP-131). */
export const getOrganization: AddRoute<OrganizationsDeps> = (app, { directory }) => {
  app.get(
    '/organizations/:organizationRef',
    { schema: { params: OrganizationParams, querystring: NoQuery, response: { 200: Organization } } },
    async ({ params: { organizationRef }, identity: { userId } }) => {
      const organization = await directory.getOrganization(userId, organizationRef)
      if (!organization) throw organizationNotFound(organizationRef)
      return toOrganization(organization)
    },
  )
}
