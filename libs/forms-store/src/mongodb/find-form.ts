import type { FormRef } from '../forms-store.ts'
import type { FormDocument, FormsCollections } from './documents.ts'
import { formByRef } from './form-queries.ts'

/**
 * The document of a form. Indexes: that of `_id`, and forms_by_publicId_and_id.
 *
 * @param ref with an incarnation to find no other one.
 * @param fields to read; all by default.
 */
export const findForm = async (
  { forms }: FormsCollections,
  { incarnation, ...ref }: FormRef & { incarnation?: string },
  fields?: readonly (keyof FormDocument)[],
): Promise<FormDocument | undefined> => {
  const query = formByRef(ref)
  return query && forms.findOne({ ...query, ...(incarnation && { incarnation }) }, fields)
}
