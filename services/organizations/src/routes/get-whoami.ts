import { NoQuery, Whoami } from '@fms/contracts'
import { type AddRoute, apiKeyInvalid } from '@fms/service-kit'
import type { OrganizationsDeps } from '../deps.ts'
import { getCallerKey } from '../get-caller-key.ts'
import { toKey, toUser } from '../to-key.ts'
import { toOrganization } from '../to-organization.ts'

/** Get the caller: the user, the key of the request, and the memberships with their roles. */
export const getWhoami: AddRoute<OrganizationsDeps> = (app, { directory }) => {
  app.get(
    '/whoami',
    { schema: { querystring: NoQuery, response: { 200: Whoami } } },
    async ({ identity }) => {
      const [key, user, memberships] = await Promise.all([
        getCallerKey(directory, identity),
        directory.findUser(identity.userId),
        directory.listMemberships(identity.userId),
      ])
      if (!user) throw apiKeyInvalid()
      return {
        user: toUser(user),
        key: toKey(key, key.keyId),
        memberships: memberships.map(({ organization, role }) => ({
          organization: toOrganization(organization),
          role,
        })),
      }
    },
  )
}
