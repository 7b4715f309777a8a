/** A form that was deleted and can be restored until `purgeTime`. */
export interface DeletedForm {
  /** `organizations/{organization_id}/deletedForms/{form_id}` */
  path: string
  publicId: string
  name: string
  /** RFC 3339, UTC, with milliseconds. */
  deleteTime: string
  /** When the form, its revisions and its replies are removed for good. RFC 3339, UTC, with milliseconds. */
  purgeTime: string
  /** Who deleted it: `users/{user_id}`; `""` if an operator imported the form with new ids. */
  deleter: string
}
