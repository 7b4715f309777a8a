import { foldCase } from '@fms/aip'
import { listedDraftFields } from '@fms/contracts'
import type { FormFields, FoundDraft, FoundForm, NewForm } from '../changes/change.ts'
import type { Deletion } from '../changes/deletion.ts'
import type { FormState, FormSummary, StoredForm, StoredRevision } from '../forms-store.ts'
import { listedDraftOf } from '../lists/form-fields.ts'
import { trigramsOf } from '../lists/name-trigrams.ts'
import type { DeletionDocument, FormDocument, RevisionDocument } from './documents.ts'
import { formById, formIdOf } from './find-form.ts'

/** The fields of `toFormState`. */
export const stateFields = [
  'organizationId',
  'publicId',
  'createTime',
  'updateTime',
  'version',
  'replyCount',
  'liveRevisionId',
] as const satisfies readonly (keyof FormDocument)[]

/** The fields of `toFormSummary`. */
export const summaryFields = [...stateFields, ...listedDraftFields] as const

/** The fields of `toStoredForm`. */
export const storedFields = [...summaryFields, 'draft', 'aiHandoff'] as const

/** The fields of `toFoundForm`. */
export const foundFields = [
  ...summaryFields,
  'incarnation',
  'isDeleted',
  'changeTime',
  'revisionNumber',
  'liveNumber',
  'bytes',
] as const

export const toFormState = (document: FormDocument): FormState => ({
  organizationId: document.organizationId,
  formId: formIdOf(document),
  publicId: document.publicId,
  createTime: new Date(document.createTime),
  updateTime: new Date(document.updateTime),
  version: document.version,
  replyCount: document.replyCount,
  live: document.liveRevisionId !== null,
})

export const toFormSummary = (document: FormDocument): FormSummary => ({
  ...toFormState(document),
  ...listedDraftOf(document),
})

export const toStoredForm = (document: FormDocument): StoredForm => ({
  ...toFormSummary(document),
  draftJson: document.draft,
  aiHandoff: document.aiHandoff,
})

export const toFoundForm = (document: FormDocument): FoundForm => ({
  ...toFormSummary(document),
  draftBytes: document.bytes,
  incarnation: document.incarnation,
  isDeleted: document.isDeleted,
  changeTime: new Date(document.changeTime),
  revisionNumber: document.revisionNumber,
  liveNumber: document.liveNumber,
  liveRevisionId: document.liveRevisionId,
})

export const toFoundDraft = (document: FormDocument): FoundDraft => ({
  ...toFoundForm(document),
  ...toStoredForm(document),
})

const draftFields = ({ draftJson, aiHandoff, updateTime, version, ...draft }: StoredForm) => ({
  updateTime: updateTime.getTime(),
  version,
  ...listedDraftOf(draft),
  foldedName: foldCase(draft.name),
  nameTrigrams: trigramsOf(foldCase(draft.name)),
  aiHandoff,
  draft: draftJson,
  bytes: Buffer.byteLength(draftJson),
})

/** The fields of the document that a change sets. */
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

export const toDeletion = ({ deleteTime, purgeTime, deleter }: DeletionDocument): Deletion => ({
  deleteTime: new Date(deleteTime),
  purgeTime: new Date(purgeTime),
  deleter,
})

export const toStoredRevision = (document: RevisionDocument): StoredRevision => ({
  organizationId: document.organizationId,
  formId: document.formId,
  revisionId: document.revisionId,
  number: document.number,
  commandId: document.commandId,
  createTime: new Date(document.createTime),
  publisher: document.publisher,
  note: document.note,
  formJson: document.form,
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
