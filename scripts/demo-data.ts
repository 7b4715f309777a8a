import { ApiError } from '@fms/aip'
import { loginCodeLifetimeMs } from '@fms/contracts'
import { type DirectoryStore, hashSecret, openDirectoryStore } from '@fms/directory-store'

const email = 'demo@example.com'
const slug = 'demo'

export interface Demo {
  organizationSlug: string
  /** Absent if an operator has revoked it: a revoked key stays revoked. */
  apiKey?: string
}

/** Creates an organization, its owner and the owner's key for first steps. Leaves existing ones unchanged. */
export async function ensureDemo(directoryStoreUrl: string, apiKey: string): Promise<Demo> {
  await using directory = await openDirectoryStore(directoryStoreUrl)
  if (!(await isUsable(directory, apiKey))) {
    const { userId } = (await directory.findUser(email)) ?? (await directory.createUser({ email }))
    const { organizationId } =
      (await directory.findOrganization(slug)) ?? (await directory.createOrganization({ slug, name: 'Demo' }))
    await ignoreError('MEMBER_EXISTS', directory.addMember({ organizationId, userId, role: 'owner' }))
    await ignoreError('API_KEY_EXISTS', directory.createKey({ userId, name: 'Demo', key: apiKey }))
  }
  return { organizationSlug: slug, ...((await isUsable(directory, apiKey)) && { apiKey }) }
}

/** Creates a code with which the demo user signs in once. @returns undefined if an operator has disabled the user. */
export async function createDemoLoginCode(directoryStoreUrl: string): Promise<string | undefined> {
  await using directory = await openDirectoryStore(directoryStoreUrl)
  const user = await directory.findUser(email)
  if (!user || user.disableTime) return undefined
  // Awaited here: the store closes when the function returns.
  return await directory.createLoginCode(user.userId, new Date(Date.now() + loginCodeLifetimeMs))
}

async function isUsable(directory: DirectoryStore, apiKey: string): Promise<boolean> {
  const request = { keyHash: hashSecret(apiKey), organizationRef: slug }
  const authorization = await directory.authorize(request, new Date())
  return authorization?.organization !== undefined
}

/** Also succeeds if the change was made before: then its error has this reason. */
async function ignoreError(reason: string, change: Promise<unknown>): Promise<void> {
  try {
    await change
  } catch (error) {
    if (!(error instanceof ApiError && error.reason === reason)) throw error
  }
}
