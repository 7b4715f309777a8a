import { ApiError } from '@fms/aip'
import type { FormRef } from '@fms/forms-store'

/** The form has no revision with this id, or no live revision because it was never published. */
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
