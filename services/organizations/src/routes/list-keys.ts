import { readPageQuery } from '@fms/aip'
import { ListKeysResponse } from '@fms/contracts'
import type { AddRoute } from '@fms/service-kit'
import type { OrganizationsDeps } from '../deps.ts'
import { toKey } from '../to-key.ts'

/** List the live keys of the caller, newest first (AIP-132). */
export const listKeys: AddRoute<OrganizationsDeps> = (app, { directory, pageTokens }) => {
  app.get(
    '/keys',
    { schema: { response: { 200: ListKeysResponse } } },
    async ({ identity: { userId, key }, query }) => {
      const scope = ['keys', userId]
      const { nextPageToken, ...page } = readPageQuery(query, { scope, pageTokens })
      const { keys, next, totalSize } = await directory.listOwnKeys({ userId, ...page })
      return {
        nextPageToken: nextPageToken(next),
        totalSize,
        keys: keys.map((each) => toKey(each, key.id)),
      }
    },
  )
}
