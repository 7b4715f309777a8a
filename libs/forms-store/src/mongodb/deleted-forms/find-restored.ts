import { type DeletionDocument, type FormDocument, type FormsCollections, formById } from '../documents.ts'

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
