import type { Quota, Usage } from '../forms-store.ts'
import { assertWithinQuota } from '../quota.ts'
import type { FormsCollections } from './documents.ts'

/** Before a refusal the documents themselves are counted, unless they were so little ago. */
const recountMs = 60_000
/** Whatever made the count drift, it is right again after a day. */
const maxAgeMs = 24 * 60 * 60 * 1000

const keyOf = (organizationId: string) => ({ organizationId, _id: organizationId })

const grows = ({ forms, bytes }: Usage) => forms > 0 || bytes > 0

/**
 * Reserves room for what a write adds, writes, and gives the room back when nothing was stored; what a write takes away
 * is taken off afterwards. A kill, or an engine that does not answer, leaves too much counted rather than too little.
 *
 * @param write tells whether it stored something.
 * @throws {ApiError} QUOTA_EXCEEDED, and nothing was written.
 */
export const countWrite = async <T>(
  collections: FormsCollections,
  quota: Quota,
  organizationId: string,
  growth: Usage,
  write: () => Promise<T>,
): Promise<T> => {
  if (grows(growth)) await reserve(collections, quota, organizationId, growth)
  const stored = await write()
  if (stored ? !grows(growth) : grows(growth)) {
    const sign = stored ? 1 : -1
    await addUsage(collections, organizationId, { forms: sign * growth.forms, bytes: sign * growth.bytes })
  }
  return stored
}

/** Counts what was stored or taken away already, whatever the quota. Without a count so far there is nothing to do. */
export const addUsage = async (
  { usage }: FormsCollections,
  organizationId: string,
  { forms, bytes }: Usage,
): Promise<void> => {
  if (forms !== 0 || bytes !== 0) await usage.increment(keyOf(organizationId), { forms, bytes })
}

/** What the organization has; counted anew where nobody has counted yet. */
export const readUsage = async (collections: FormsCollections, organizationId: string): Promise<Usage> => {
  const { forms, bytes } =
    (await collections.usage.findOne(keyOf(organizationId))) ?? (await recount(collections, organizationId))
  return { forms, bytes }
}

/**
 * Refuses what there is no room for, by a count that is not older than {@link recountMs}.
 *
 * @throws {ApiError} QUOTA_EXCEEDED.
 */
export const checkQuota = async (
  collections: FormsCollections,
  quota: Quota,
  organizationId: string,
  growth: Usage,
): Promise<void> => {
  const counted = await readUsage(collections, organizationId)
  try {
    assertWithinQuota(organizationId, quota, counted, growth)
  } catch {
    assertWithinQuota(organizationId, quota, await recount(collections, organizationId), growth)
  }
}

const reserve = async (
  collections: FormsCollections,
  quota: Quota,
  organizationId: string,
  growth: Usage,
): Promise<void> => {
  const hasRoom = Object.fromEntries(
    (['forms', 'bytes'] as const)
      .filter((name) => quota[name] > 0 && growth[name] > 0)
      .map((name) => [name, { $lte: quota[name] - growth[name] }]),
  )
  for (;;) {
    const isFresh = { countTime: { $gt: Date.now() - maxAgeMs } }
    const query = { ...keyOf(organizationId), ...hasRoom, ...isFresh }
    if (await collections.usage.increment(query, { ...growth })) return
    // Not counted yet, or long ago; or there is no room. Else others have given some back meanwhile.
    assertWithinQuota(organizationId, quota, await recount(collections, organizationId), growth)
  }
}

/**
 * Counts the documents, unless they were counted a moment ago, and corrects the count by the difference: what others
 * add meanwhile stays in it. Indexes: forms_by_bytes and revisions_by_bytes.
 */
const recount = async (collections: FormsCollections, organizationId: string): Promise<Usage> => {
  const { usage } = collections
  const key = keyOf(organizationId)
  const before = await usage.findOne(key)
  if (before && before.countTime > Date.now() - recountMs) return before
  const counted = await countDocuments(collections, organizationId)
  const countTime = Date.now()
  const isNoted = before
    ? await usage.increment(
        { ...key, countTime: before.countTime },
        {
          forms: counted.forms - before.forms,
          bytes: counted.bytes - before.bytes,
          countTime: countTime - before.countTime,
        },
      )
    : await usage.insert({ ...key, ...counted, countTime })
  return isNoted ? counted : ((await usage.findOne(key)) ?? counted)
}

const countDocuments = async (
  { forms, revisions }: FormsCollections,
  organizationId: string,
): Promise<Usage> => {
  const query = { organizationId, bytes: { $gte: 0 } }
  const [drafts, snapshots] = await Promise.all([forms.sum(query, 'bytes'), revisions.sum(query, 'bytes')])
  return { forms: drafts.count, bytes: drafts.sum + snapshots.sum }
}
