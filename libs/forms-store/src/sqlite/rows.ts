import { foldCase } from '@fms/aip'
import { isPublicId, isUuid, listedDraftFields } from '@fms/contracts'
import type { Row, SqlCondition } from '@fms/store-kit'
import type { FoundForm } from '../changes/change.ts'
import type { FoundRevision } from '../changes/change-engine.ts'
import type { Deletion } from '../changes/deletion.ts'
import type {
  DeletedForm,
  FormRef,
  FormState,
  FormSummary,
  RevisionState,
  StoredForm,
  StoredRevision,
} from '../forms-store.ts'
import { type ListedDraft, listedDraftOf } from '../lists/form-fields.ts'

const text = (row: Row, column: string) => row[column] as string
const number = (row: Row, column: string) => row[column] as number
const time = (row: Row, column: string) => new Date(row[column] as number)

/** The condition that finds a form by reference; undefined if the reference is neither a UUID nor a public id. */
export const formByRef = ({ organizationId, formRef }: FormRef): SqlCondition | undefined => {
  if (isUuid(formRef))
    return { sql: 'organizationId = ? AND formId = ?', values: [organizationId, formRef.toLowerCase()] }
  if (isPublicId(formRef))
    return { sql: 'organizationId = ? AND publicId = ?', values: [organizationId, formRef] }
  return undefined
}

/** The columns of a form's state. */
export const stateColumns =
  'organizationId, formId, publicId, createTime, updateTime, version, replyCount, liveRevisionId'

/** The columns of `toFormSummary`. */
export const summaryColumns = [stateColumns, ...listedDraftFields].join(', ')

export const toFormState = (row: Row): FormState => ({
  organizationId: text(row, 'organizationId'),
  formId: text(row, 'formId'),
  publicId: text(row, 'publicId'),
  createTime: time(row, 'createTime'),
  updateTime: time(row, 'updateTime'),
  version: number(row, 'version'),
  replyCount: number(row, 'replyCount'),
  live: row.liveRevisionId !== null,
})

export const toFormSummary = (row: Row): FormSummary => ({
  ...toFormState(row),
  ...listedDraftOf(row as unknown as ListedDraft),
})

export const toStoredForm = (row: Row): StoredForm => ({
  ...toFormSummary(row),
  draftJson: text(row, 'draft'),
  aiHandoff: row.aiHandoff === 1,
})

/** The columns of `toFoundForm`. SQLite computes the size of a draft without reading it. */
export const foundColumns = `${summaryColumns}, id, isDeleted, changeTime, revisionNumber, liveNumber, octet_length(draft) AS draftBytes`

export const toFoundForm = (row: Row): FoundForm => ({
  ...toFormSummary(row),
  draftBytes: number(row, 'draftBytes'),
  incarnation: number(row, 'id'),
  isDeleted: row.isDeleted === 1,
  changeTime: time(row, 'changeTime'),
  ...toLiveState(row),
})

export const toLiveState = (row: Row) => ({
  revisionNumber: number(row, 'revisionNumber'),
  liveNumber: number(row, 'liveNumber'),
  liveRevisionId: row.liveRevisionId as string | null,
})

/**
 * Values of the columns that a change of the draft sets, without copies of members that are as before: SQLite rewrites the
 * indexes of every column that is set, even to the same value.
 */
export const draftColumns = (form: StoredForm, before?: ListedDraft): Row => {
  const { draftJson, aiHandoff, updateTime, version } = form
  const changed = listedDraftFields.filter((name) => form[name] !== before?.[name])
  return {
    updateTime: updateTime.getTime(),
    version,
    draft: draftJson,
    aiHandoff: Number(aiHandoff),
    ...Object.fromEntries(changed.map((name) => [name, form[name]])),
    ...(changed.includes('name') && { foldedName: foldCase(form.name) }),
  }
}

/** The columns of `toDeletedForm`. */
export const deletedFormColumns = 'organizationId, formId, publicId, name, deleteTime, purgeTime, deleter'

export const toDeletedForm = (row: Row): DeletedForm => ({
  organizationId: text(row, 'organizationId'),
  formId: text(row, 'formId'),
  publicId: text(row, 'publicId'),
  name: text(row, 'name'),
  ...toDeletion(row),
})

export const toDeletion = (row: Row): Deletion => ({
  deleteTime: time(row, 'deleteTime'),
  purgeTime: time(row, 'purgeTime'),
  deleter: text(row, 'deleter'),
})

/** @param row of a revision, with `liveRevisionId` and `aiHandoff` of its form. */
export const toRevisionState = (row: Row): RevisionState => ({
  revisionId: text(row, 'revisionId'),
  live: row.revisionId === row.liveRevisionId,
  aiHandoff: row.aiHandoff === 1,
})

/** @param row of a revision, with the `formId` of its form: NULL if the form is gone. */
export const toFoundRevision = (row: Row): FoundRevision => ({
  formId: (row.formId as string | null) ?? '',
  revisionId: text(row, 'revisionId'),
  commandId: text(row, 'commandId'),
  number: number(row, 'number'),
  incarnation: number(row, 'incarnation'),
  isHeld: row.formId !== null,
})

/** @param row of a revision, with the `formId` of its form. */
export const toStoredRevision = (row: Row): StoredRevision => ({
  organizationId: text(row, 'organizationId'),
  formId: text(row, 'formId'),
  revisionId: text(row, 'revisionId'),
  number: number(row, 'number'),
  commandId: text(row, 'commandId'),
  createTime: time(row, 'createTime'),
  publisher: text(row, 'publisher'),
  note: text(row, 'note'),
  formJson: text(row, 'form'),
})

export const revisionColumns = (revision: StoredRevision, incarnation: number): Row => ({
  revisionId: revision.revisionId,
  incarnation,
  organizationId: revision.organizationId,
  number: revision.number,
  commandId: revision.commandId,
  createTime: revision.createTime.getTime(),
  publisher: revision.publisher,
  note: revision.note,
  form: revision.formJson,
})
