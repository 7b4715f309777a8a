import { writeConflict } from '@fms/store-kit/mongodb'
import type { Replies } from '../../forms-store.ts'
import { recordDeletedReplies } from '../deleted-forms/record-deleted-replies.ts'
import type { FormsCollections } from '../documents.ts'
import { formById, formKey, incarnationOf } from '../form-queries.ts'
import { addReplies } from './add-replies.ts'

const replyFields = ['organizationId', 'incarnation', 'replyCount', 'recentReplies'] as const

/**
 * Counts replies of a form, or of a deleted one that can be restored, in one update of the form. The update matches the
 * incarnation and the `replyCount` that were read: no id was added or removed since.
 *
 * @returns how many replies were new.
 */
export const recordReplies = async (
  collections: FormsCollections,
  replies: Replies,
): Promise<number | typeof writeConflict> => {
  const { forms } = collections
  const form = await forms.findOne(formById(replies), replyFields)
  if (!form) return recordDeletedReplies(collections, replies)
  const same = { ...formKey(form), replyCount: form.replyCount }
  const { counted, fields } = await addReplies(collections, incarnationOf(form), form, replies.replyIds)
  const isSame = await (counted > 0 ? forms.set(same, fields) : forms.confirm(same))
  return isSame ? counted : writeConflict
}
