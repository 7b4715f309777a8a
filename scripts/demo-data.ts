import { ApiError } from '@fms/aip'
import { type DirectoryStore, hashApiKey, openDirectoryStore } from '@fms/directory-store'

const email = 'demo@example.com'
const slug = 'demo'

export interface Demo {
  organizationSlug: string
  /** Absent when an operator revoked it; it stays revoked. */
  apiKey?: string
}

/** An organization, its owner and the owner's key, to try things with. What is there already stays as it is. */
export async function ensureDemo(directoryStoreUrl: string, apiKey: string): Promise<Demo> {
  await using directory = await openDirectoryStore(directoryStoreUrl)
  if (!(await isGood(directory, apiKey))) {
    const { userId } = (await directory.findUser(email)) ?? (await directory.createUser({ email }))
    const { organizationId } =
      (await directory.findOrganization(slug)) ?? (await directory.createOrganization({ slug, name: 'Demo' }))
    await unless('MEMBER_EXISTS', directory.addMember({ organizationId, userId, role: 'owner' }))
    await unless('API_KEY_EXISTS', directory.createKey({ userId, name: 'Demo', key: apiKey }))
  }
  return { organizationSlug: slug, ...((await isGood(directory, apiKey)) && { apiKey }) }
}

async function isGood(directory: DirectoryStore, apiKey: string): Promise<boolean> {
  const request = { keyHash: hashApiKey(apiKey), organizationRef: slug }
  const authorization = await directory.authorize(request, new Date())
  return authorization?.organization !== undefined
}

/** Waits for `change`; that it was made before, which `reason` tells, is as good. */
async function unless(reason: string, change: Promise<unknown>): Promise<void> {
  try {
    await change
  } catch (error) {
    if (!(error instanceof ApiError && error.reason === reason)) throw error
  }
}
