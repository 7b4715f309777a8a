import type { ChangeOptions } from './forms.ts'
import { type List, listOf, type PageQuery } from './pages.ts'
import { pathOf } from './references.ts'
import { newRequestId } from './request-id.ts'
import type { DeletedForm } from './schemas.generated.ts'
import { sendForm, type TaggedForm } from './tagged-form.ts'
import type { Transport } from './transport.ts'

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

export const deletedFormsOf = ({ send }: Transport): DeletedForms => ({
  list: (organization, { signal, ...parameters } = {}) =>
    listOf(parameters, async (query) => {
      const path = pathOf(['organizations', organization], ['deletedForms'])
      const { body } = await send<DeletedFormsPage>({ method: 'GET', path, query: { ...query }, signal })
      const { deletedForms: items, ...page } = body
      return { items, ...page }
    }),

  undelete: async (organization, form, options = {}) => {
    const { requestId = newRequestId(), ifMatch, validateOnly = false, signal } = options
    return sendForm(send, {
      method: 'POST',
      path: pathOf(['organizations', organization], ['deletedForms', form], ['undelete']),
      body: { requestId, validateOnly },
      ifMatch,
      signal,
    })
  },

  purge: async (organization, form, options = {}) => {
    const { requestId = newRequestId(), ifMatch, validateOnly, signal } = options
    await send({
      method: 'DELETE',
      path: pathOf(['organizations', organization], ['deletedForms', form]),
      // In the query: proxies may drop the body of a DELETE, and a dry run must not delete.
      query: { requestId, validateOnly: validateOnly || undefined },
      ifMatch,
      signal,
    })
  },
})

interface DeletedFormsPage {
  deletedForms: DeletedForm[]
  totalSize: number
  nextPageToken: string
}
