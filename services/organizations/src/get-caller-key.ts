import type { Identity } from '@fms/contracts'
import type { ApiKey, DirectoryStore } from '@fms/directory-store'
import { apiKeyInvalid } from '@fms/service-kit'

declare module 'fastify' {
  interface FastifyRequest {
    /** The key of a request that changes keys. */
    callerKey: ApiKey
  }
}

/** The key of a request as it is stored now. @throws {ApiError} API_KEY_INVALID if it has ended meanwhile. */
export const getCallerKey = async (directory: DirectoryStore, { userId, key }: Identity): Promise<ApiKey> => {
  const found = await directory.getOwnKey(userId, key.id)
  if (!found) throw apiKeyInvalid()
  return found
}
