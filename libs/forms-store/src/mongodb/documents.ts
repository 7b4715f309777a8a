import { foldCase } from '@fms/aip'
import { type FormDraft, isPublicId, isUuid } from '@fms/contracts'
import type { MongoCollection, MongoDatabase } from '@fms/store-kit/mongodb'
import type { FormRef, FormState, StoredForm, StoredRevision } from '../forms-store.ts'
import { trigramsOf } from '../lists/name-trigrams.ts'
import { toStoredDraft } from '../stored-draft.ts'

/** Times are milliseconds since the epoch. What lists filter and sort by stands beside the draft. */
export interface FormDocument {
  /** The form's id. */
  _id: string
  organizationId: string
  publicId: string
  createTime: number
  updateTime: number
  version: number
  replyCount: number
  /** The replies that were counted last; `replies` knows the others. */
  recentReplies: string[]
  /** The last number taken, and the one that is live: 0 for none. */
  revisionNumber: number
  liveNumber: number
  liveRevisionId: string | null
  name: string
  foldedName: string
  /** Runs of three code points of `foldedName`; missing in what the release before wrote, until it is migrated. */
  nameTrigrams?: string[]
  type: FormDraft['type']
  /** Missing in what the release before wrote, until `formctl migrate`. */
  aiHandoff?: boolean
  /** Of the draft, in UTF-8; missing as aiHandoff is. */
  bytes?: number
  /** JSON, since the names of a draft's members may hold dots and dollars. */
  draft: string
}

export interface RevisionDocument {
  /** The revision's id. */
  _id: string
  organizationId: string
  formId: string
  number: number
  commandId: string
  createTime: number
  /** JSON, as drafts are. */
  form: string
  /** Of the form, in UTF-8; missing in what the release before wrote, until `formctl migrate`. */
  bytes?: number
}

/** A reply that was counted. */
export interface ReplyDocument {
  /** The driver gives one. */
  _id?: unknown
  organizationId: string
  formId: string
  replyId: string
}

/** A public id that is taken, or was about to be by a create that was killed: then there is no such form. */
export interface PublicIdDocument {
  /** The public id. */
  _id: string
  organizationId: string
  formId: string
  reserveTime: number
}

/** What an organization has, counted beside the changes: docs/decisions/0017-count-usage-with-each-write.md. */
export interface UsageDocument {
  /** The organization's id. */
  _id: string
  organizationId: string
  forms: number
  bytes: number
  /** When the documents themselves were counted last. */
  countTime: number
}

/** A delete that began. Once its form is gone, whatever else there is of it has to go, too. */
export interface DeletionDocument {
  /** The form's id. */
  _id: string
  organizationId: string
  publicId: string
  beginTime: number
}

export interface FormsCollections {
  forms: MongoCollection<FormDocument>
  revisions: MongoCollection<RevisionDocument>
  replies: MongoCollection<ReplyDocument>
  publicIds: MongoCollection<PublicIdDocument>
  deletions: MongoCollection<DeletionDocument>
  usage: MongoCollection<UsageDocument>
}

export const formsCollections = (database: MongoDatabase): FormsCollections => ({
  forms: database.collection('forms'),
  revisions: database.collection('revisions'),
  replies: database.collection('replies'),
  publicIds: database.collection('publicIds'),
  deletions: database.collection('deletions'),
  usage: database.collection('usage'),
})

/** Finds the form that a reference names; undefined for a reference that can be no id. */
export const formByRef = ({ organizationId, formRef }: FormRef) => {
  if (isUuid(formRef)) return { organizationId, _id: formRef.toLowerCase() }
  if (isPublicId(formRef)) return { organizationId, publicId: formRef }
  return undefined
}

/** Finds this very form. */
export const formKey = ({ organizationId, _id }: FormDocument) => ({ organizationId, _id })

/** Of a form's draft, in UTF-8; 0 where it is not known and the draft was not read. */
export const draftBytes = ({ bytes, draft }: Partial<FormDocument>): number =>
  bytes ?? Buffer.byteLength(draft ?? '')

export const sizeFields = ['bytes'] as const satisfies readonly (keyof FormDocument)[]

/** The fields of a form's state. */
export const stateFields = [
  'organizationId',
  'publicId',
  'createTime',
  'updateTime',
  'version',
  'replyCount',
  'liveRevisionId',
] as const satisfies readonly (keyof FormDocument)[]

export const toFormState = (document: FormDocument): FormState => ({
  organizationId: document.organizationId,
  formId: document._id,
  publicId: document.publicId,
  createTime: new Date(document.createTime),
  updateTime: new Date(document.updateTime),
  version: document.version,
  replyCount: document.replyCount,
  live: document.liveRevisionId !== null,
})

export const toStoredForm = (document: FormDocument): StoredForm => ({
  ...toFormState(document),
  draftJson: document.draft,
  name: document.name,
  type: document.type,
  aiHandoff: document.aiHandoff ?? toStoredDraft(JSON.parse(document.draft)).aiHandoff,
})

/** The fields that a change of the draft writes. */
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

export const newFormDocument = (form: StoredForm): FormDocument => ({
  _id: form.formId,
  organizationId: form.organizationId,
  publicId: form.publicId,
  createTime: form.createTime.getTime(),
  replyCount: form.replyCount,
  recentReplies: [],
  revisionNumber: 0,
  liveNumber: 0,
  liveRevisionId: null,
  ...draftFields(form),
})

export const toStoredRevision = ({ _id, createTime, form, ...rest }: RevisionDocument): StoredRevision => ({
  organizationId: rest.organizationId,
  formId: rest.formId,
  revisionId: _id,
  number: rest.number,
  commandId: rest.commandId,
  createTime: new Date(createTime),
  formJson: form,
})

export const newRevisionDocument = ({
  revisionId,
  createTime,
  formJson,
  ...rest
}: StoredRevision): RevisionDocument => ({
  _id: revisionId,
  organizationId: rest.organizationId,
  formId: rest.formId,
  number: rest.number,
  commandId: rest.commandId,
  createTime: createTime.getTime(),
  form: formJson,
  bytes: Buffer.byteLength(formJson),
})
