import { type DraftSummaryField, draftSummaryFields, type FormDraft } from '@fms/contracts'
import type { Row } from '@fms/store-kit'
import type { FoundDraft, FoundForm, LiveState } from './changes/change.ts'
import type { Deletion } from './changes/deletion.ts'
import type { DeletedForm, FormMetadata, FormSummary, StoredForm, StoredRevision } from './forms-store.ts'

/** Copies of members of the draft, by which lists filter and sort. Lists show them without reading drafts. */
export type DraftSummary = Pick<FormDraft, DraftSummaryField>

export const draftSummaryOf = (draft: DraftSummary): DraftSummary => {
  const summary: Partial<Record<DraftSummaryField, string>> = {}
  for (const name of draftSummaryFields) summary[name] = draft[name]
  return summary as DraftSummary
}

/** A form as the engines store it. Times are milliseconds since the epoch. SQLite has 0 and 1 for booleans. */
export interface FormRow extends DraftSummary, LiveState {
  organizationId: string
  formId: string
  publicId: string
  createTime: number
  updateTime: number
  changeTime: number
  version: number
  replyCount: number
  incarnation: string | number
  isDeleted: boolean | number
  aiHandoff: boolean | number
  draft: string
  /** Size of the draft in UTF-8. */
  bytes: number
}

export const metadataFields = [
  'publicId',
  'createTime',
  'updateTime',
  'version',
  'replyCount',
  'liveRevisionId',
] as const satisfies (keyof FormRow)[]

export const toFormMetadata = (row: FormRow | Row): FormMetadata => {
  const { organizationId, formId, publicId, createTime, updateTime, version, replyCount, liveRevisionId } =
    row as FormRow
  return {
    organizationId,
    formId,
    publicId,
    createTime: new Date(createTime),
    updateTime: new Date(updateTime),
    version,
    replyCount,
    live: liveRevisionId !== null,
  }
}

export const toFormSummary = (row: FormRow | Row): FormSummary => ({
  ...toFormMetadata(row),
  ...draftSummaryOf(row as FormRow),
})

export const toStoredForm = (row: FormRow | Row): StoredForm => {
  const { draft, aiHandoff } = row as FormRow
  return { ...toFormSummary(row), draftJson: draft, aiHandoff: Boolean(aiHandoff) }
}

export const toFoundForm = (row: FormRow | Row): FoundForm => {
  const { bytes, incarnation, isDeleted, changeTime, revisionNumber, liveNumber, liveRevisionId } =
    row as FormRow
  return {
    ...toFormSummary(row),
    draftBytes: bytes,
    incarnation,
    isDeleted: Boolean(isDeleted),
    changeTime: new Date(changeTime),
    revisionNumber,
    liveNumber,
    liveRevisionId,
  }
}

export const toFoundDraft = (row: FormRow | Row): FoundDraft => ({
  ...toFoundForm(row),
  form: toStoredForm(row),
})

export interface DeletionRow {
  deleteTime: number
  purgeTime: number
  deleter: string
}

export interface DeletedFormRow
  extends DeletionRow,
    Pick<DeletedForm, 'organizationId' | 'formId' | 'publicId' | 'name'> {}

export const toDeletedForm = (row: DeletedFormRow | Row): DeletedForm => {
  const { organizationId, formId, publicId, name } = row as DeletedFormRow
  return { organizationId, formId, publicId, name, ...toDeletion(row) }
}

export const toDeletion = (row: DeletionRow | Row): Deletion => {
  const { deleteTime, purgeTime, deleter } = row as DeletionRow
  return { deleteTime: new Date(deleteTime), purgeTime: new Date(purgeTime), deleter }
}

export interface RevisionRow extends Omit<StoredRevision, 'createTime' | 'formJson'> {
  createTime: number
  /** JSON text, like drafts. */
  form: string
}

export const toStoredRevision = (row: RevisionRow | Row): StoredRevision => {
  const { organizationId, formId, revisionId, number, commandId, createTime, publisher, note, form } =
    row as RevisionRow
  return {
    organizationId,
    formId,
    revisionId,
    number,
    commandId,
    createTime: new Date(createTime),
    publisher,
    note,
    formJson: form,
  }
}
