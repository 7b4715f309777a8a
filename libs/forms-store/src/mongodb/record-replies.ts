import { writeConflict } from '@fms/store-kit/mongodb'
import type { Replies } from '../forms-store.ts'
import type { FormsCollections } from './documents.ts'

/** So many ids stand in the form itself before they move to `replies`. */
export const maxRecentReplies = 32

/**
 * Counts replies and notes their ids in one change of the form: neither is ever there without the other. Once the form
 * would hold too many ids, the earlier ones are copied to `replies` before the change that drops them, so that each
 * counted id is in the form or there at any instant. The change demands the replyCount that was read: no id was counted
 * or dropped since.
 *
 * @returns how many were counted now.
 */
export const recordReplies = async (
  { forms, replies }: FormsCollections,
  { organizationId, formId, replyIds }: Replies,
): Promise<number | typeof writeConflict> => {
  const key = { organizationId, _id: formId }
  const form = await forms.findOne(key, ['replyCount', 'recentReplies'])
  if (!form) {
    // It may have gone while an attempt before this one was copying.
    await replies.deleteMany({ organizationId, formId })
    return 0
  }
  const { replyCount, recentReplies } = form
  const known = new Set(recentReplies)
  for await (const { replyId } of replies.find({ organizationId, formId, replyId: { $in: [...replyIds] } })) {
    known.add(replyId)
  }
  const counted = [...new Set(replyIds)].filter((id) => !known.has(id))
  if (counted.length === 0) return 0

  const isFull = recentReplies.length + counted.length > maxRecentReplies
  if (isFull) {
    await replies.insertMissing(recentReplies.map((replyId) => ({ organizationId, formId, replyId })))
  }
  const isCounted = await forms.set(
    { ...key, replyCount },
    {
      replyCount: replyCount + counted.length,
      recentReplies: [...(isFull ? [] : recentReplies), ...counted],
    },
  )
  return isCounted ? counted.length : writeConflict
}
