import { type List, listOf, type PageQuery } from './pages.ts'
import type { DeletedForm } from './schemas.generated.ts'
import { pathOf } from './transport/references.ts'
import type { Transport } from './transport/transport.ts'
import { type ChangeOptions, deleteForm, postForm, type TaggedForm } from './write-form.ts'

/** Deleted forms that can be restored. `form` may also be the deleted form's `path`. The ETag is that of the last state. */
export interface DeletedForms {
  list(organization: string, query?: PageQuery): List<DeletedForm>
  /** Restores a form with ids, revisions and replies. @throws {FormsApiError} DELETED_FORM_NOT_FOUND for any other form. */
  undelete(organization: string, form: string, options?: ChangeOptions): Promise<TaggedForm>
  /** Removes a deleted form for good; only for owners. @throws {FormsApiError} DELETED_FORM_NOT_FOUND as for `undelete`. */
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
