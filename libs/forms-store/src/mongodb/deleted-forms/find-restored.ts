import type { DeletionDocument, FormDocument, FormsCollections } from '../documents.ts'
import { formById } from '../form-queries.ts'

/** The form of a note, without its draft, if it exists. Index: that of `_id`. */
export const findRestored = (
  { forms }: FormsCollections,
  note: DeletionDocument,
): Promise<FormDocument | undefined> =>
  forms.findOne({ ...formById(note), incarnation: note.incarnation }, [
    'organizationId',
    'incarnation',
    'eventNumber',
  ])
