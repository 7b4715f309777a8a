import { ApiError } from '@fms/aip'
import type { FormRef } from '@fms/forms-store'

/** No revision of this form has this id; `live` names none before the first publish. */
export const revisionNotFound = ({ organizationId, formRef }: FormRef, revisionRef: string) => {
  const revision = `organizations/${organizationId}/forms/${formRef}/revisions/${revisionRef}`
  return new ApiError(
    'NOT_FOUND',
    'REVISION_NOT_FOUND',
    `There is no ${revision}. Publish the form, or list its revisions.`,
    {
      metadata: { revision },
    },
  )
}
