import type { Quota, Usage } from '../forms-store.ts'
import { assertWithinQuota } from '../quota.ts'
import type { FormsCollections } from './documents.ts'

/** Before a rejection, usage is recomputed from the documents unless it is newer than this. */
const recountMs = 60_000
/** Usage older than this is recomputed, which corrects any drift. */
const maxAgeMs = 24 * 60 * 60 * 1000

const keyOf = (organizationId: string) => ({ organizationId, _id: organizationId })

const grows = ({ forms, bytes }: Usage) => forms > 0 || bytes > 0

/**
 * Counts growth before the write, and subtracts it again when nothing was stored; counts a decrease after the write. A
 * crash or an unreachable engine leaves usage too high rather than too low.
 *
 * @param write resolves to a truthy value if it stored something.
 * @throws {ApiError} QUOTA_EXCEEDED, before the write.
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

/** Adds to the usage without a check of the quota. Does nothing while the organization has no usage document. */
export const addUsage = async (
  { usage }: FormsCollections,
  organizationId: string,
  { forms, bytes }: Usage,
): Promise<void> => {
  if (forms !== 0 || bytes !== 0) await usage.increment(keyOf(organizationId), { forms, bytes })
}

/** The usage of an organization; computed from the documents the first time. */
export const readUsage = async (collections: FormsCollections, organizationId: string): Promise<Usage> => {
  const { forms, bytes } =
    (await collections.usage.findOne(keyOf(organizationId))) ?? (await recount(collections, organizationId))
  return { forms, bytes }
}

/**
 * Checks the quota. Recomputes usage older than {@link recountMs} before a rejection.
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
  const isWithinQuota = Object.fromEntries(
    (['forms', 'bytes'] as const)
      .filter((name) => quota[name] > 0 && growth[name] > 0)
      .map((name) => [name, { $lte: quota[name] - growth[name] }]),
  )
  for (;;) {
    const isFresh = { countTime: { $gt: Date.now() - maxAgeMs } }
    const query = { ...keyOf(organizationId), ...isWithinQuota, ...isFresh }
    if (await collections.usage.increment(query, { ...growth })) return
    // Not counted yet, outdated, or over the quota. If usage decreased meanwhile, the next attempt succeeds.
    assertWithinQuota(organizationId, quota, await recount(collections, organizationId), growth)
  }
}

/**
 * Computes usage from the documents, unless it was computed within {@link recountMs}, and applies the difference, so that
 * concurrent changes stay counted. Indexes: forms_by_bytes and revisions_by_bytes.
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
