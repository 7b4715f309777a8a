import { type List, listOf, type PageQuery } from './pages.ts'
import type { DeletedForm } from './schemas.generated.ts'
import { pathOf } from './transport/references.ts'
import type { Transport } from './transport/transport.ts'
import { type ChangeOptions, deleteForm, postForm, type TaggedForm } from './write-form.ts'

/**
 * Deleted forms that can be restored. `organization` is a UUID, slug or `path`; `form` is a UUID, `publicId` or `path` of the
 * form or of the deleted form. The ETag of a deleted form is that of its last state.
 */
export interface DeletedForms {
  /** Lists deleted forms, the most recently deleted first. */
  list(organization: string, query?: PageQuery): List<DeletedForm>
  /**
   * Restores a form as it was, with its ids, revisions and replies.
   *
   * @throws {FormsApiError} DELETED_FORM_NOT_FOUND if the form is purged, restored already, or was never deleted.
   */
  undelete(organization: string, form: string, options?: ChangeOptions): Promise<TaggedForm>
  /**
   * Removes a deleted form for good, with its revisions and replies. Only owners may do so.
   *
   * @throws {FormsApiError} DELETED_FORM_NOT_FOUND as for `undelete`.
   */
  purge(organization: string, form: string, options?: ChangeOptions): Promise<void>
}

export const deletedFormsOf = ({ send }: Transport): DeletedForms => {
  const pathTo = (organization: string, ...rest: [string, string?][]) =>
    pathOf(['organizations', organization], ...rest)
  return {
    list: (organization, query) =>
      listOf(send, () => pathTo(organization, ['deletedForms']), 'deletedForms', query),
    undelete: async (organization, form, options) =>
      postForm(send, pathTo(organization, ['deletedForms', form], ['undelete']), options),
    purge: async (organization, form, options) =>
      deleteForm(send, pathTo(organization, ['deletedForms', form]), options),
  }
}
