import { writeConflict } from '@fms/store-kit/mongodb'
import type { Replies } from '../../forms-store.ts'
import { type FormsCollections, formById, formByIdEach, formKey } from '../documents.ts'

/** Reply ids that a form document holds before they move to `replies`. */
export const maxRecentReplies = 32

const replyFields = ['organizationId', 'incarnation', 'replyCount', 'recentReplies'] as const

/**
 * Increments `replyCount` and stores the ids of the replies in one update of the form. When the form would hold too many
 * ids, the earlier ones are first copied to `replies`, so that each counted id is always in one of the two. The update
 * matches the incarnation and the `replyCount` that were read: no id was added or removed since.
 *
 * @returns how many replies were new.
 */
export const recordReplies = async (
  { forms, replies }: FormsCollections,
  { organizationId, formId, replyIds }: Replies,
): Promise<number | typeof writeConflict> => {
  const path = { organizationId, formId }
  const form = await forms.findOne(formById(path), replyFields)
  // A delete clears the ids that an earlier attempt copied.
  if (!form) return (await forms.confirmEach(formByIdEach(path))) > 0 ? writeConflict : 0
  const { incarnation, replyCount, recentReplies } = form
  const key = formKey(form)
  const all = { organizationId, formId, incarnation }
  const known = new Set(recentReplies)
  for await (const { replyId } of replies.find({ ...all, replyId: { $in: [...replyIds] } })) {
    known.add(replyId)
  }
  const counted = [...new Set(replyIds)].filter((id) => !known.has(id))
  if (counted.length === 0) return (await forms.confirm({ ...key, replyCount })) ? 0 : writeConflict

  const isFull = recentReplies.length + counted.length > maxRecentReplies
  if (isFull) await replies.insertMissing(recentReplies.map((replyId) => ({ ...all, replyId })))
  const isCounted = await forms.set(
    { ...key, replyCount },
    {
      replyCount: replyCount + counted.length,
      recentReplies: [...(isFull ? [] : recentReplies), ...counted],
    },
  )
  return isCounted ? counted.length : writeConflict
}
