import type { Db } from 'mongodb'
import { trigramsOf } from '../../libs/forms-store/src/lists/name-trigrams.ts'
import { formsSchema } from '../../libs/forms-store/src/mongodb/schema.ts'

/** A form of the bare server on MongoDB (M): the JSON text of its response, and the fields that are indexed. */
export interface BareForm {
  /** The form's id. */
  _id: string
  organizationId: string
  publicId: string
  name: string
  foldedName: string
  nameTrigrams: string[]
  type: string
  createTime: number
  updateTime: number
  /** Counts the changes. An update names the version that was read. */
  version: number
  replyCount: number
  bytes: number
  liveRevisionId: string | null
  liveNumber: number
  document: string
}

/** A revision of the bare server: the JSON text of the form as published, and the fields that are indexed. */
export interface BareRevision {
  /** The revision's id. */
  _id: string
  organizationId: string
  formId: string
  commandId: string
  number: number
  bytes: number
  document: string
}

/** The members of a form that the bare server knows. */
export interface BareDraft {
  name: string
  type: string
}

interface BareFormIds {
  organizationId: string
  formId: string
  publicId: string
}

/** The public id of the seeded form with this number: ten characters, as in the product. */
export const barePublicIdOf = (number: number): string => `${number}`.padStart(10, 'x')

/**
 * Creates the product's indexes of forms and revisions. None is unique, because the bare server handles no conflict.
 */
export const createBareIndexes = async (database: Db): Promise<void> => {
  for (const { collection, name, key } of formsSchema.indexes) {
    if (['forms', 'revisions'].includes(collection))
      await database.collection(collection).createIndex(key, { name })
  }
}

/** The fields that a change of the draft sets. @param form the form as JSON, as its response has it. */
export const bareFields = (form: BareDraft, updateTime: number) => {
  const document = JSON.stringify(form)
  const foldedName = form.name.toLowerCase()
  return {
    name: form.name,
    foldedName,
    nameTrigrams: trigramsOf(foldedName),
    type: form.type,
    updateTime,
    bytes: Buffer.byteLength(document),
    document,
  }
}

/** A new form. Its response has the fields that the product adds to a draft, so that documents are equally long. */
export const bareForm = (
  { organizationId, formId, publicId }: BareFormIds,
  draft: BareDraft,
  time: number,
): BareForm => {
  const form = {
    path: `organizations/${organizationId}/forms/${formId}`,
    publicId,
    publicUrl: `http://127.0.0.1:8080/f/${publicId}`,
    createTime: new Date(time).toISOString(),
    updateTime: new Date(time).toISOString(),
    live: false,
    replyCount: 0,
    ...draft,
  }
  return {
    _id: formId,
    organizationId,
    publicId,
    createTime: time,
    version: 1,
    replyCount: 0,
    liveRevisionId: null,
    liveNumber: 0,
    ...bareFields(form, time),
  }
}
