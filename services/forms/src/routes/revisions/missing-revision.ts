import { type ApiError, apiError } from '@fms/aip'
import { type FormRef, type FormsStore, formNotFound } from '@fms/forms-store'

/** The error of a read that has found no revision: FORM_NOT_FOUND or REVISION_NOT_FOUND. */
export const missingRevision = async (
  forms: FormsStore,
  ref: FormRef,
  revisionRef: string,
): Promise<ApiError> => {
  if (!(await forms.getMetadata(ref))) return formNotFound(ref)
  const { organizationId, formRef } = ref
  const revision = `organizations/${organizationId}/forms/${formRef}/revisions/${revisionRef}`
  return apiError('REVISION_NOT_FOUND', { revision })
}
