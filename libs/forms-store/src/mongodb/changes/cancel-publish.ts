import { randomUUID } from 'node:crypto'
import {
  type FormDocument,
  type FormsCollections,
  formKey,
  incarnationOf,
  type RevisionDocument,
} from '../documents.ts'
import { addUsage } from '../usage.ts'

/**
 * Cancels the publish that has stored a revision with the next number and has not finished: it was killed, or is slow and
 * starts again. Its revision keeps its number, so that a late insert cannot take it.
 *
 * @param form as it was read, with `number` as its next one.
 * @returns false if no revision has the number.
 */
export const cancelPublish = async (
  { forms, revisions }: FormsCollections,
  form: FormDocument,
  number: number,
): Promise<boolean> => {
  if (!(await revisions.confirm({ ...incarnationOf(form), number }))) return false
  const { revisionNumber, cancelledNumber = null } = form
  await forms.set({ ...formKey(form), revisionNumber, cancelledNumber }, { cancelledNumber: number })
  return true
}

/**
 * Empties the revisions of cancelled publishes, and frees their commands. Has to be complete before a later number
 * becomes visible. Index: revisions_by_incarnation.
 */
export const emptyCancelled = async (collections: FormsCollections, form: FormDocument): Promise<void> => {
  const { revisionNumber, cancelledNumber = 0 } = form
  if (cancelledNumber <= revisionNumber) return
  const number = { $gt: revisionNumber, $lte: cancelledNumber }
  const query = { ...incarnationOf(form), number, isCancelled: null }
  const fields = ['organizationId', 'formId', 'incarnation', 'revisionId', 'bytes']
  const found = await Array.fromAsync(collections.revisions.find(query, { fields }))
  for (const revision of found) await emptyRevision(collections, revision)
}

const emptyRevision = async (
  collections: FormsCollections,
  { organizationId, formId, incarnation, revisionId, bytes }: RevisionDocument,
): Promise<void> => {
  const key = { organizationId, formId, incarnation, revisionId, isCancelled: null }
  const fields = { isCancelled: true, commandId: randomUUID(), form: '', bytes: 0 }
  if (await collections.revisions.set(key, fields)) {
    await addUsage(collections, organizationId, { forms: 0, bytes: -bytes })
  }
}
