import { randomUUID } from 'node:crypto'
import type { FormDocument, FormsCollections, Incarnation, RevisionDocument } from '../documents.ts'
import { formKey, incarnationOf } from '../form-queries.ts'
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
  const query = { ...incarnationOf(form), number: { $gt: revisionNumber, $lte: cancelledNumber } }
  const found = collections.revisions.find({ ...query, isCancelled: true }, { fields: ['number'] })
  const empty = new Set((await Array.fromAsync(found)).map(({ number }) => number))
  for (let number = revisionNumber + 1; number <= cancelledNumber; number++) {
    if (!empty.has(number)) await occupy(collections, incarnationOf(form), number)
  }
}

/** Lets an empty revision have the number. A publish that was taken down may remove its revision meanwhile. */
const occupy = async (
  collections: FormsCollections,
  incarnation: Incarnation,
  number: number,
): Promise<void> => {
  const fields = ['organizationId', 'formId', 'incarnation', 'revisionId', 'bytes', 'isCancelled']
  let isEmpty = false
  while (!isEmpty) {
    const found = await collections.revisions.findOne({ ...incarnation, number }, fields)
    if (!found) isEmpty = await collections.revisions.insert(emptyRevision(incarnation, number))
    else isEmpty = found.isCancelled ?? (await emptyFound(collections, found))
  }
}

/** @returns false if the revision was emptied or removed meanwhile. */
const emptyFound = async (
  collections: FormsCollections,
  { organizationId, formId, incarnation, revisionId, bytes }: RevisionDocument,
): Promise<boolean> => {
  const key = { organizationId, formId, incarnation, revisionId, isCancelled: null }
  const isEmptied = await collections.revisions.set(key, emptyFields())
  if (isEmptied) await addUsage(collections, organizationId, { forms: 0, bytes: -bytes, revisions: -1 })
  return isEmptied
}

const emptyFields = () => ({ isCancelled: true, commandId: randomUUID(), form: '', bytes: 0 })

const emptyRevision = (incarnation: Incarnation, number: number): RevisionDocument => ({
  ...incarnation,
  revisionId: randomUUID(),
  number,
  createTime: Date.now(),
  ...emptyFields(),
})
