import { foldCase } from '@fms/aip'
import type { FormDraft } from '@fms/contracts'
import type { Row } from '@fms/store-kit'
import { parseDraft } from '../draft-text.ts'
import type { FormState, FormText, RevisionText, StoredForm, StoredRevision } from '../forms-store.ts'

const text = (row: Row, column: string) => row[column] as string
const number = (row: Row, column: string) => row[column] as number
const time = (row: Row, column: string) => new Date(row[column] as number)

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

export const toFormText = (row: Row): FormText => ({
  ...toFormState(row),
  draftJson: text(row, 'draft'),
  name: text(row, 'name'),
  type: text(row, 'type') as FormDraft['type'],
  aiHandoff: row.aiHandoff === 1,
})

export const toStoredForm = (row: Row): StoredForm => parseDraft(toFormText(row))

/** The columns that a change of the draft writes. */
export const draftColumns = ({ draftJson, name, type, aiHandoff, updateTime, version }: FormText): Row => ({
  updateTime: updateTime.getTime(),
  version,
  name,
  foldedName: foldCase(name),
  type,
  draft: draftJson,
  aiHandoff: Number(aiHandoff),
})

export const newFormColumns = (form: FormText): Row => ({
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

export const toStoredRevision = (row: Row): StoredRevision => ({
  organizationId: text(row, 'organizationId'),
  formId: text(row, 'formId'),
  revisionId: text(row, 'revisionId'),
  number: number(row, 'number'),
  commandId: text(row, 'commandId'),
  createTime: time(row, 'createTime'),
  form: JSON.parse(text(row, 'form')),
})

export const revisionColumns = ({ formJson, createTime, ...revision }: RevisionText): Row => ({
  ...revision,
  createTime: createTime.getTime(),
  form: formJson,
})
