import { type FormPath, isPublicId, isUuid } from '@fms/contracts'
import { readInPages } from '@fms/store-kit'
import type { FormRef } from '../forms-store.ts'
import type { FormDocument, FormsCollections, Incarnation } from './documents.ts'

/** The `_id` of a form: two organizations may have forms with the same id. */
export const documentIdOf = ({ organizationId, formId }: FormPath): string => `${organizationId}/${formId}`

export const formIdOf = ({ _id }: { _id: string }): string => _id.slice(_id.lastIndexOf('/') + 1)

/** The query that finds a form by its id, deleted or not. */
export const formById = ({ organizationId, formId }: FormPath) => ({
  organizationId,
  _id: documentIdOf({ organizationId, formId }),
})

/** Finds a deleted form by its id, too. @returns undefined for neither a UUID nor a public id. */
const formByRef = ({ organizationId, formRef }: FormRef, isDeleted: boolean) => {
  if (isUuid(formRef)) return formById({ organizationId, formId: formRef.toLowerCase() })
  if (isPublicId(formRef)) return { organizationId, isDeleted, publicId: formRef }
  return undefined
}

interface FindFormOptions {
  /** Default: all. */
  fields?: readonly (keyof FormDocument)[]
  /** Whether to look among the deleted forms, or among the others. Default: false. */
  isDeleted?: boolean
  /** Whether to read what a majority has. Default: false, the state of the primary. */
  isDurable?: boolean
}

/** The document of a form. Indexes: forms_by_id, forms_by_publicId. */
export const findForm = async (
  { forms }: FormsCollections,
  ref: FormRef,
  { fields, isDeleted = false, isDurable = false }: FindFormOptions = {},
): Promise<FormDocument | undefined> => {
  const query = formByRef(ref, isDeleted)
  if (!query) return undefined
  const all = fields && [...fields, 'isDeleted']
  const found = isDurable
    ? (await forms.findDurable(query, { limit: 1, ...(all && { fields: all }) })).at(0)
    : await forms.findOne(query, all)
  return found?.isDeleted === isDeleted ? found : undefined
}

export const incarnationOf = (
  form: Pick<FormDocument, '_id' | 'organizationId' | 'incarnation'>,
): Incarnation => ({
  organizationId: form.organizationId,
  formId: formIdOf(form),
  incarnation: form.incarnation,
})

/** Forms ordered by `publicId`, with further fields. Without any, the engine reads only the index: forms_by_publicId. */
export const formsByPublicId = (
  { forms }: FormsCollections,
  organizationId: string,
  isDeleted: boolean,
  ...more: (keyof FormDocument)[]
): AsyncGenerator<FormDocument> => {
  const options = { sort: { publicId: 1 }, limit: 500, fields: ['publicId', ...more] } as const
  return readInPages((last) => {
    const query = { organizationId, isDeleted, publicId: { $gt: last?.publicId ?? '' } }
    return Array.fromAsync(forms.find(query, options))
  })
}
