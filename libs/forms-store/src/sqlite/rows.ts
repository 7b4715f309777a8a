import { foldCase } from '@fms/aip'
import type { Row } from '@fms/store-kit'
import type { FormText, RevisionText, StoredForm, StoredRevision } from '../forms-store.ts'
import { parseDraft } from '../to-form.ts'

const text = (row: Row, column: string) => row[column] as string
const number = (row: Row, column: string) => row[column] as number
const time = (row: Row, column: string) => new Date(row[column] as number)

export const toFormText = (row: Row): FormText => ({
  organizationId: text(row, 'organizationId'),
  formId: text(row, 'formId'),
  publicId: text(row, 'publicId'),
  createTime: time(row, 'createTime'),
  updateTime: time(row, 'updateTime'),
  version: number(row, 'version'),
  replyCount: number(row, 'replyCount'),
  live: row.liveRevisionId !== null,
  draftJson: text(row, 'draft'),
})

export const toStoredForm = (row: Row): StoredForm => parseDraft(toFormText(row))

/** The columns that a change of the draft writes. */
export const draftColumns = ({ draft, updateTime, version }: StoredForm): Row => ({
  updateTime: updateTime.getTime(),
  version,
  name: draft.name,
  foldedName: foldCase(draft.name),
  type: draft.type,
  draft: JSON.stringify(draft),
})

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
