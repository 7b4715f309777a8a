import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { FormRecord } from '@fms/contracts'
import { formConflict } from '../../errors.ts'
import type { Imported, StoredRevision } from '../../forms-store.ts'
import { noQuota } from '../../quota.ts'
import { assertSameRecord, fromFormRecord, revisionStateOf, revisionsOf } from '../../stored-form-record.ts'
import { clearFormerForm } from '../changes/clear-deletions.ts'
import { reservePublicId } from '../changes/create-form.ts'
import { removeRevision } from '../changes/insert-revision.ts'
import { maxRecentReplies } from '../changes/record-replies.ts'
import { draftBytes, type FormsCollections, newFormDocument, newRevisionDocument } from '../documents.ts'
import { hasForm } from '../find-revision.ts'
import { addUsage, countWrite } from '../usage.ts'
import { readRecord } from './export-forms.ts'

/** Inserts of replies in flight. */
const batchSize = 50

/**
 * Reserves the public id, stores revisions and replies, which are invisible without their form, and then the form. A
 * repeat continues an import that crashed.
 */
export const importForm = async (collections: FormsCollections, record: FormRecord): Promise<Imported> => {
  const { organizationId, formId, publicId } = record
  // Remains of a deleted form must not mix with what is stored here.
  await clearFormerForm(collections, record)
  const stored = await readRecord(collections, record)
  if (stored) return assertSameRecord(stored, record)

  if (!(await reservePublicId(collections, record))) throw formConflict(record, 'publicId', publicId)
  for (const revision of revisionsOf(record)) await insertRevision(collections, revision)
  const recentReplies = record.replyIds.slice(0, maxRecentReplies)
  for (let first = maxRecentReplies; first < record.replyIds.length; first += batchSize) {
    const batch = record.replyIds.slice(first, first + batchSize)
    await Promise.all(batch.map((replyId) => collections.replies.insert({ organizationId, formId, replyId })))
  }
  const incarnation = randomUUID()
  const form = {
    ...newFormDocument(fromFormRecord(record), incarnation),
    ...revisionStateOf(record),
    recentReplies,
  }
  const growth = { forms: 1, bytes: draftBytes(form) }
  const insert = () => collections.forms.insert(form)
  const noted = { formId, incarnation }
  if (await countWrite(collections, noQuota, organizationId, growth, insert, noted)) return 'imported'

  const meanwhile = await readRecord(collections, record)
  if (!meanwhile) throw formConflict(record, 'formId', formId)
  return assertSameRecord(meanwhile, record)
}

/** The first attempt suffices, unless revisions of deleted forms conflict. */
const maxAttempts = 5

/** Stores a revision, unless it exists already. Deletes revisions of deleted forms that conflict with it. */
const insertRevision = async (collections: FormsCollections, revision: StoredRevision): Promise<void> => {
  const { revisions } = collections
  const { organizationId, formId, number, revisionId, commandId } = revision
  const document = newRevisionDocument(revision)
  for (let attempt = 1; !(await revisions.insert(document)); attempt++) {
    if (attempt > maxAttempts) throw conflict(revision, true)
    const sameId = await revisions.findOne({ organizationId, _id: revisionId })
    if (sameId && isDeepStrictEqual(sameId, document)) return
    const sameCommand = await revisions.findOne({ organizationId, commandId })
    const sameNumber = await revisions.findOne({ organizationId, formId, number })
    const conflicting = [sameId, sameCommand, sameNumber].filter((found) => found !== undefined)
    for (const found of conflicting) {
      if (await hasForm(collections, found)) throw conflict(revision, found === sameId)
      await removeRevision(collections, found)
    }
    // A revision of another organization has the id.
    if (conflicting.length === 0) throw conflict(revision, true)
  }
  await addUsage(collections, organizationId, { forms: 0, bytes: document.bytes ?? 0 })
}

const conflict = (revision: StoredRevision, hasSameId: boolean) =>
  hasSameId
    ? formConflict(revision, 'revisionId', revision.revisionId)
    : formConflict(revision, 'commandId', revision.commandId)
