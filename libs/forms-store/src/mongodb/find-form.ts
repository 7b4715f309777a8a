import type { FormRef } from '../forms-store.ts'
import { type FormDocument, type FormsCollections, formByRef } from './documents.ts'

/**
 * The document of a form. Indexes: that of `_id`, and forms_by_publicId_and_id.
 *
 * @param fields to read; all by default.
 */
export const findForm = async (
  { forms }: FormsCollections,
  ref: FormRef,
  fields?: readonly (keyof FormDocument)[],
): Promise<FormDocument | undefined> => {
  const query = formByRef(ref)
  return query && forms.findOne(query, fields)
}
