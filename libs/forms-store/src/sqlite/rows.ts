import { foldCase } from '@fms/aip'
import { type FormDraft, isPublicId, isUuid } from '@fms/contracts'
import type { Row, SqlCondition } from '@fms/store-kit'
import type { Deletion } from '../deletions/deletion.ts'
import type {
  DeletedForm,
  FormRef,
  FormState,
  FormSummary,
  RevisionState,
  StoredForm,
  StoredRevision,
} from '../forms-store.ts'

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
  name: text(row, 'name'),
  type: text(row, 'type') as FormDraft['type'],
})

export const toStoredForm = (row: Row): StoredForm => ({
  ...toFormSummary(row),
  draftJson: text(row, 'draft'),
  aiHandoff: row.aiHandoff === 1,
})

/** Values of the columns that a change of the draft sets. */
export const draftColumns = ({ draftJson, name, type, aiHandoff, updateTime, version }: StoredForm): Row => ({
  updateTime: updateTime.getTime(),
  version,
  name,
  foldedName: foldCase(name),
  type,
  draft: draftJson,
  aiHandoff: Number(aiHandoff),
})

/** The columns of `forms`. `deletedForms` has them too. */
export const formColumns =
  'organizationId, formId, publicId, createTime, updateTime, version, replyCount, revisionNumber, liveNumber, liveRevisionId, name, foldedName, type, draft, aiHandoff'

export const newFormColumns = (form: StoredForm): Row => ({
  organizationId: form.organizationId,
  formId: form.formId,
  publicId: form.publicId,
  createTime: form.createTime.getTime(),
  replyCount: form.replyCount,
  revisionNumber: 0,
  liveNumber: 0,
  liveRevisionId: null,
  ...draftColumns(form),
})

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

export const deletionColumns = ({ deleteTime, purgeTime, deleter }: Deletion): Row => ({
  deleteTime: deleteTime.getTime(),
  purgeTime: purgeTime.getTime(),
  deleter,
})

/** @param row of a revision, with `liveRevisionId` and `aiHandoff` of its form. */
export const toRevisionState = (row: Row): RevisionState => ({
  revisionId: text(row, 'revisionId'),
  live: row.revisionId === row.liveRevisionId,
  aiHandoff: row.aiHandoff === 1,
})

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

export const revisionColumns = ({ formJson, createTime, ...revision }: StoredRevision): Row => ({
  ...revision,
  createTime: createTime.getTime(),
  form: formJson,
})
