import { z } from 'zod'
import { pageShape } from './parts/page.ts'
import { Timestamp } from './text.ts'

export const DeletedForm = z
  .strictObject({
    path: z.string().describe('`organizations/{organization_id}/deletedForms/{form_id}`'),
    publicId: z.string(),
    name: z.string(),
    deleteTime: Timestamp,
    purgeTime: Timestamp.describe('When the form, its revisions and its replies are removed for good.'),
    deleter: z
      .string()
      .describe('Who deleted it: `users/{user_id}`; `""` if an operator imported the form with new ids.'),
  })
  .meta({ id: 'DeletedForm', description: 'A form that was deleted and can be restored.' })
export type DeletedForm = z.infer<typeof DeletedForm>

/** A page of deleted forms, most recently deleted first (AIP-158). */
export const ListDeletedFormsResponse = z
  .strictObject({ ...pageShape, deletedForms: z.array(DeletedForm) })
  .meta({ id: 'DeletedFormsPage', description: 'A page of deleted forms, most recently deleted first.' })
export type ListDeletedFormsResponse = z.infer<typeof ListDeletedFormsResponse>
