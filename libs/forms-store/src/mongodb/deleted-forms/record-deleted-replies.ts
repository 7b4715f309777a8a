import { writeConflict } from '@fms/store-kit/mongodb'
import type { Replies } from '../../forms-store.ts'
import { addReplies } from '../changes/add-replies.ts'
import type { FormsCollections } from '../documents.ts'
import { formByIdEach } from '../form-queries.ts'
import type { RestorableNote } from './find-deleted.ts'
import { sameClaim, undeletesInProgress } from './undeletes-in-progress.ts'

/**
 * One attempt to count replies of a form that does not exist: in the form of its note, if it can be restored. An undelete
 * inserts the form as it has read it, so both update the note on condition that the other has not.
 *
 * @returns how many replies were new; `writeConflict` while the form is being deleted or restored.
 */
export const recordDeletedReplies = async (
  collections: FormsCollections,
  { replyIds, ...path }: Replies,
): Promise<number | typeof writeConflict> => {
  const { forms, deletions } = collections
  const note = await findNote(collections, path)
  // A delete that is final clears the ids that an earlier attempt copied.
  if (!note) return (await forms.confirmEach(formByIdEach(path))) > 0 ? writeConflict : 0
  if (!note.deleteTime || undeletesInProgress(collections).has(note)) return writeConflict
  const { replyCount } = note.form
  const same = { ...sameClaim(note), 'form.replyCount': replyCount }
  const { counted, fields } = await addReplies(collections, note, note.form, replyIds)
  const changes = { 'form.replyCount': fields.replyCount, 'form.recentReplies': fields.recentReplies }
  const isSame = await (counted > 0 ? deletions.set(same, changes) : deletions.confirm(same))
  return isSame ? counted : writeConflict
}

/** All of a note that a count of replies needs. */
const noteFields = [
  '_id',
  'organizationId',
  'formId',
  'incarnation',
  'deleteTime',
  'undeleteId',
  'undeleteTime',
  'form.replyCount',
  'form.recentReplies',
] as const

/**
 * The note of the delete that was last; without `deleteTime`, one that is not confirmed yet. Rejected and purged notes have
 * a `purgeTime` of 0. Index: deletions_by_form.
 */
const findNote = async (
  { deletions }: FormsCollections,
  { organizationId, formId }: Omit<Replies, 'replyIds'>,
): Promise<RestorableNote | undefined> => {
  const query = { organizationId, formId, purgeTime: { $gt: 0 } }
  const notes = (await Array.fromAsync(deletions.find(query, { fields: noteFields }))) as RestorableNote[]
  return notes.sort((a, b) => (b.deleteTime ?? 0) - (a.deleteTime ?? 0))[0]
}
