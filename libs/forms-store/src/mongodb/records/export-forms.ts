import type { FormPath, FormRecord } from '@fms/contracts'
import { retryOnConflict, writeConflict } from '@fms/store-kit/mongodb'
import { toDeletionRecord } from '../../deletions/deletion.ts'
import { updateAborted } from '../../errors.ts'
import type { OrganizationForms } from '../../forms-store.ts'
import { toFormRecord } from '../../stored-form-record.ts'
import { toStoredForm, toStoredRevision } from '../convert-documents.ts'
import { findDeleted } from '../deleted-forms/find-deleted.ts'
import { findRestored } from '../deleted-forms/find-restored.ts'
import type { FormDocument, FormsCollections } from '../documents.ts'
import { formById, formIdOf, formKey, incarnationOf, visibleRevisions } from '../form-queries.ts'

/** The organizations that have forms, deleted ones included. */
export async function* listOrganizations(collections: FormsCollections): AsyncGenerator<OrganizationForms> {
  for await (const organizationId of listOrganizationIds(collections)) {
    yield { organizationId, forms: await collections.forms.count({ organizationId }) }
  }
}

/**
 * The ids of the organizations that have forms, deleted ones included. Indexes: forms_by_publicId_and_id and
 * deletions_by_deleteTime, one query of each per organization.
 */
export async function* listOrganizationIds({ forms, deletions }: FormsCollections): AsyncGenerator<string> {
  const fields = ['organizationId']
  const options = { limit: 1, fields }
  for (let after = ''; ; ) {
    const query = { organizationId: { $gt: after } }
    const areDeleted = { ...query, deleteTime: { $gt: 0 } }
    const found = await Promise.all([
      Array.fromAsync(forms.find(query, { ...options, sort: { organizationId: 1, publicId: 1 } })),
      Array.fromAsync(
        deletions.find(areDeleted, { ...options, sort: { organizationId: 1, deleteTime: -1 } }),
      ),
    ])
    const [first] = found.flatMap(([each]) => each?.organizationId ?? []).sort()
    if (first === undefined) return
    after = first
    yield after
  }
}

/** Ids that are read in advance: no cursor stays open between two forms. */
const pageSize = 500

/** Forms, and then the deleted ones that can be restored, with those that are restored meanwhile. */
export async function* exportForms(
  collections: FormsCollections,
  organizationId: string,
): AsyncGenerator<FormRecord> {
  const deletedBefore = await readDeletedIds(collections, organizationId)
  for await (const record of exportExisting(collections, organizationId)) {
    deletedBefore.delete(record.formId)
    yield record
  }
  yield* exportDeleted(collections, organizationId, deletedBefore)
}

/** Public ids of the deleted forms by their ids. Index: deletions_by_deleteTime. */
const readDeletedIds = async (
  { deletions }: FormsCollections,
  organizationId: string,
): Promise<Map<string, string>> => {
  const query = { organizationId, deleteTime: { $gt: 0 } }
  const found = await Array.fromAsync(deletions.find(query, { fields: ['formId', 'publicId'] }))
  return new Map(found.map(({ formId, publicId }) => [formId, publicId]))
}

/** Index: forms_by_publicId_and_id. Reads one form at a time. */
async function* exportExisting(
  collections: FormsCollections,
  organizationId: string,
): AsyncGenerator<FormRecord> {
  for (let after = ''; ; ) {
    const found = collections.forms.find(
      { organizationId, publicId: { $gt: after } },
      { sort: { publicId: 1 }, limit: pageSize, fields: ['publicId'] },
    )
    const page = (await Array.fromAsync(found)).map((form) => ({
      formId: formIdOf(form),
      publicId: form.publicId,
    }))
    for (const { formId } of page) {
      const record = await readRecord(collections, { organizationId, formId })
      if (record) yield record
    }
    if (page.length < pageSize) return
    after = page.at(-1)!.publicId
  }
}

/**
 * The deleted forms. Reads one form at a time.
 *
 * @param deletedBefore forms that were deleted when the export began, and may have been restored since.
 */
async function* exportDeleted(
  collections: FormsCollections,
  organizationId: string,
  deletedBefore: ReadonlyMap<string, string>,
): AsyncGenerator<FormRecord> {
  const all = new Map([...deletedBefore, ...(await readDeletedIds(collections, organizationId))])
  for (const [formId] of [...all].sort(([, a], [, b]) => (a < b ? -1 : 1))) {
    const form = { organizationId, formId }
    // An undelete may restore the form during the export.
    const record = (await readDeletedRecord(collections, form)) ?? (await readRecord(collections, form))
    if (record) yield record
  }
}

/**
 * A deleted form with its revisions and replies, in a consistent state: reads again when replies were counted meanwhile.
 * Indexes: deletions_by_form, revisions_by_incarnation and replies_by_incarnation.
 *
 * @returns undefined when there is none, or it was purged or restored meanwhile.
 * @throws {ApiError} UPDATE_ABORTED when replies kept coming until the deadline.
 */
export const readDeletedRecord = (
  collections: FormsCollections,
  { organizationId, formId }: FormPath,
): Promise<FormRecord | undefined> => {
  const ref = { organizationId, formRef: formId }
  const attempt = async () => {
    const note = await findDeleted(collections, ref)
    if (!note || (await findRestored(collections, note))) return undefined
    const record = await readHistory(collections, note.form)
    const { _id, deleteTime, purgeTime, deleter = '' } = note
    const isSame = { organizationId, _id, deleteTime, 'form.replyCount': note.form.replyCount }
    if (!(await collections.deletions.has(isSame))) return writeConflict
    const deletion = { deleteTime: new Date(deleteTime), purgeTime: new Date(purgeTime), deleter }
    return { ...record, deletion: toDeletionRecord(deletion) }
  }
  return retryOnConflict(attempt, () => updateAborted(ref))
}

/**
 * The form with its revisions and replies, in a consistent state: reads again when the form changed meanwhile. Indexes:
 * revisions_by_incarnation and replies_by_incarnation.
 *
 * @throws {ApiError} UPDATE_ABORTED when the form kept changing until the deadline.
 */
export const readRecord = (
  collections: FormsCollections,
  { organizationId, formId }: FormPath,
): Promise<FormRecord | undefined> => {
  const { forms } = collections
  const attempt = async () => {
    const form = await forms.findOne(formById({ organizationId, formId }))
    if (!form) return undefined
    const record = await readHistory(collections, form)
    const { version, replyCount, revisionNumber, liveNumber } = form
    const isSame = { ...formKey(form), version, replyCount, revisionNumber, liveNumber }
    return (await forms.has(isSame)) ? record : writeConflict
  }
  return retryOnConflict(attempt, () => updateAborted({ organizationId, formRef: formId }))
}

/** The record of a form in the state of a document. */
const readHistory = async (
  { revisions, replies }: FormsCollections,
  form: FormDocument,
): Promise<FormRecord> => {
  const [found, counted] = await Promise.all([
    Array.fromAsync(revisions.find(visibleRevisions(form), { sort: { number: 1 } })),
    Array.fromAsync(replies.find({ ...incarnationOf(form) })),
  ])
  const { revisionNumber, liveNumber, liveRevisionId } = form
  return toFormRecord(toStoredForm(form), {
    revisionNumber,
    liveNumber,
    liveRevisionId,
    revisions: found.map(toStoredRevision),
    replyIds: [...form.recentReplies, ...counted.map(({ replyId }) => replyId)],
  })
}
