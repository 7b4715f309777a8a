import { foldCase } from '@fms/aip'
import { draftSummaryFields } from '@fms/contracts'
import type { FormFields, NewForm } from '../changes/change.ts'
import type { Deletion } from '../changes/deletion.ts'
import type { StoredForm, StoredRevision } from '../forms-store.ts'
import { trigramsOf } from '../lists/name-trigrams.ts'
import * as rows from '../stored-rows.ts'
import type { DeletionDocument, FormDocument, RevisionDocument } from './documents.ts'
import { formById, formIdOf } from './find-form.ts'

export const metadataFields = ['organizationId', ...rows.metadataFields] as const

export const summaryFields = [...metadataFields, ...draftSummaryFields] as const

export const storedFields = [...summaryFields, 'draft', 'aiHandoff'] as const

export const foundFields = [
  ...summaryFields,
  'incarnation',
  'isDeleted',
  'changeTime',
  'revisionNumber',
  'liveNumber',
  'bytes',
] as const

const fromDocument =
  <T>(convert: (row: rows.FormRow) => T) =>
  (document: FormDocument): T =>
    convert({ ...document, formId: formIdOf(document) })

export const toFormMetadata = fromDocument(rows.toFormMetadata)
export const toFormSummary = fromDocument(rows.toFormSummary)
export const toStoredForm = fromDocument(rows.toStoredForm)
export const toFoundForm = fromDocument(rows.toFoundForm)
export const toFoundDraft = fromDocument(rows.toFoundDraft)

const draftFields = ({ draftJson, aiHandoff, updateTime, version, ...draft }: StoredForm) => ({
  updateTime: updateTime.getTime(),
  version,
  ...rows.draftSummaryOf(draft),
  foldedName: foldCase(draft.name),
  nameTrigrams: trigramsOf(foldCase(draft.name)),
  aiHandoff,
  draft: draftJson,
  bytes: Buffer.byteLength(draftJson),
})

export const changedFields = ({ draft, deletion, ...live }: FormFields): Partial<FormDocument> => ({
  ...live,
  ...(draft && draftFields(draft)),
  ...(deletion !== undefined && { isDeleted: deletion !== null }),
})

export const newFormDocument = (
  { form, deletion, revisionNumber, liveNumber, liveRevisionId }: NewForm,
  incarnation: string,
  changeTime: Date,
): FormDocument => ({
  ...formById(form),
  incarnation,
  isDeleted: deletion !== undefined,
  publicId: form.publicId,
  createTime: form.createTime.getTime(),
  changeTime: changeTime.getTime(),
  replyCount: form.replyCount,
  revisionNumber,
  liveNumber,
  liveRevisionId,
  ...draftFields(form),
})

export const newDeletionDocument = (
  form: Pick<StoredForm, 'organizationId' | 'formId' | 'publicId' | 'name'>,
  { deleteTime, purgeTime, deleter }: Deletion,
): DeletionDocument => ({
  ...formById(form),
  publicId: form.publicId,
  name: form.name,
  deleteTime: deleteTime.getTime(),
  purgeTime: purgeTime.getTime(),
  deleter,
})

export const newRevisionDocument = (
  { formJson, createTime, ...revision }: StoredRevision,
  incarnation: string,
): RevisionDocument => ({
  ...revision,
  incarnation,
  createTime: createTime.getTime(),
  form: formJson,
  bytes: Buffer.byteLength(formJson),
})
