import type { FormDocument, FormsCollections, Incarnation } from '../documents.ts'

/** Reply ids that a form document holds before they move to `replies`. */
export const maxRecentReplies = 32

/** The replies in a form document. */
type ReplyFields = Pick<FormDocument, 'replyCount' | 'recentReplies'>

/**
 * Adds the ids of new replies to those in a form document. When it would hold too many, the earlier ones are first copied
 * to `replies`, so that each counted id is always in one of the two. Index: replies_by_incarnation.
 *
 * @returns how many replies are new, and the fields to store on condition that `replyCount` is unchanged.
 */
export const addReplies = async (
  { replies }: FormsCollections,
  { organizationId, formId, incarnation }: Incarnation,
  { replyCount, recentReplies }: ReplyFields,
  replyIds: readonly string[],
): Promise<{ counted: number; fields: ReplyFields }> => {
  const all = { organizationId, formId, incarnation }
  const known = new Set(recentReplies)
  for await (const { replyId } of replies.find({ ...all, replyId: { $in: [...replyIds] } })) {
    known.add(replyId)
  }
  const added = [...new Set(replyIds)].filter((id) => !known.has(id))
  const isFull = recentReplies.length + added.length > maxRecentReplies
  if (isFull && added.length > 0) {
    await replies.insertMissing(recentReplies.map((replyId) => ({ ...all, replyId })))
  }
  return {
    counted: added.length,
    fields: {
      replyCount: replyCount + added.length,
      recentReplies: [...(isFull ? [] : recentReplies), ...added],
    },
  }
}
