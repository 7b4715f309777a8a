import { foldCase } from '@fms/aip'
import type { FormState, FormSummary, StoredForm, StoredRevision } from '../forms-store.ts'
import { trigramsOf } from '../lists/name-trigrams.ts'
import type { FormDocument, RevisionDocument } from './documents.ts'
import { formIdOf } from './form-queries.ts'

export const sizeFields = ['bytes'] as const satisfies readonly (keyof FormDocument)[]

/** The fields of `toFormState`. */
export const stateFields = [
  'organizationId',
  'incarnation',
  'publicId',
  'createTime',
  'updateTime',
  'version',
  'replyCount',
  'liveRevisionId',
] as const satisfies readonly (keyof FormDocument)[]

/** The fields of `toStoredForm`. */
export const storedFields = [...stateFields, 'draft', 'name', 'type', 'aiHandoff'] as const

/** The fields that recording an event reads. */
export const eventFields = [
  ...stateFields,
  'name',
  'eventNumber',
  'eventTime',
  'pendingEvents',
] as const satisfies readonly (keyof FormDocument)[]

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

/** The fields of `toFormSummary`. */
export const summaryFields = [
  ...stateFields,
  'name',
  'type',
] as const satisfies readonly (keyof FormDocument)[]

export const toFormSummary = (document: FormDocument): FormSummary => ({
  ...toFormState(document),
  name: document.name,
  type: document.type,
})

export const toStoredForm = (document: FormDocument): StoredForm => ({
  ...toFormSummary(document),
  draftJson: document.draft,
  aiHandoff: document.aiHandoff,
})

/** Values of the fields that a change of the draft sets. */
export const draftFields = ({ draftJson, name, type, aiHandoff, updateTime, version }: StoredForm) => ({
  updateTime: updateTime.getTime(),
  version,
  name,
  foldedName: foldCase(name),
  nameTrigrams: trigramsOf(foldCase(name)),
  type,
  aiHandoff,
  draft: draftJson,
  bytes: Buffer.byteLength(draftJson),
})

export const newFormDocument = (form: StoredForm, incarnation: string): FormDocument => ({
  _id: form.formId,
  organizationId: form.organizationId,
  incarnation,
  publicId: form.publicId,
  createTime: form.createTime.getTime(),
  replyCount: form.replyCount,
  recentReplies: [],
  revisionNumber: 0,
  liveNumber: 0,
  liveRevisionId: null,
  ...draftFields(form),
})

export const toStoredRevision = (document: RevisionDocument): StoredRevision => ({
  organizationId: document.organizationId,
  formId: document.formId,
  revisionId: document.revisionId,
  number: document.number,
  commandId: document.commandId,
  createTime: new Date(document.createTime),
  publisher: document.publisher ?? '',
  note: document.note ?? '',
  formJson: document.form,
})

export const newRevisionDocument = (
  revision: StoredRevision,
  incarnation: string,
  publish: Pick<RevisionDocument, 'wasLive' | 'context'> = {},
): RevisionDocument => ({
  organizationId: revision.organizationId,
  formId: revision.formId,
  incarnation,
  revisionId: revision.revisionId,
  number: revision.number,
  commandId: revision.commandId,
  createTime: revision.createTime.getTime(),
  publisher: revision.publisher,
  note: revision.note,
  form: revision.formJson,
  bytes: Buffer.byteLength(revision.formJson),
  ...publish,
})
