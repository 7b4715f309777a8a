import type { ChangeContext, FormRef, FormsStore } from '@fms/forms-store'

/**
 * Checks that a request with `requestId` was not carried out before. Changes of the store do so themselves: this is for
 * dry runs, and for routes that check something before they call the store.
 *
 * @param ref the form that the request names; without `formRef` for a create.
 * @throws {RequestReplay} when it was: `respondToReplays` responds; {ApiError} REQUEST_ID_REUSED when another request was.
 */
export const assertNotRepeated = async (
  forms: FormsStore,
  { organizationId, formRef }: Pick<FormRef, 'organizationId'> & Partial<FormRef>,
  { request }: ChangeContext,
): Promise<void> => {
  if (request) await forms.checkRequest(organizationId, formRef, request)
}
