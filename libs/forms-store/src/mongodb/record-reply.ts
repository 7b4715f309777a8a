import { lostRace } from '@fms/store-kit/mongodb'
import type { FormsCollections, ReplyDocument } from './documents.ts'

/** So many ids stand in the form itself; a list of forms reads them along with it. */
export const maxRecentReplies = 32

/**
 * Counts a reply and notes its id in one change of the form: neither is ever there without the other. Once the form
 * holds many ids, they are copied to `replies` before the change that drops them, so that each counted id is in the
 * form or there at any instant. The change demands the replyCount that was read: no id was counted or dropped since.
 */
export const recordReply = async (
  { forms, replies }: FormsCollections,
  { organizationId, formId, replyId }: ReplyDocument,
): Promise<boolean | typeof lostRace> => {
  const key = { organizationId, _id: formId }
  const form = await forms.findOne(key, ['replyCount', 'recentReplies'])
  if (!form) {
    // It may have gone while an attempt before this one was copying.
    await replies.deleteMany({ organizationId, formId })
    return false
  }
  const { replyCount, recentReplies } = form
  if (recentReplies.includes(replyId)) return false
  if (await replies.has({ organizationId, formId, replyId })) return false

  const isFull = recentReplies.length >= maxRecentReplies
  if (isFull) {
    await Promise.all(recentReplies.map((id) => replies.insert({ organizationId, formId, replyId: id })))
  }
  const isCounted = await forms.set(
    { ...key, replyCount },
    { replyCount: replyCount + 1, recentReplies: [...(isFull ? [] : recentReplies), replyId] },
  )
  return isCounted || lostRace
}
