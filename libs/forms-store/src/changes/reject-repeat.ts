import { isUuid } from '@fms/contracts'
import { requestIdReused } from '../errors.ts'
import { type IdentifiedRequest, type ReplayedForm, RequestReplay } from '../identified-request.ts'

export interface EarlierRequest extends ReplayedForm {
  digest: string
}

/** @throws {RequestReplay} when both have the same form and digest; {ApiError} REQUEST_ID_REUSED otherwise. */
export const rejectRepeat = (
  earlier: EarlierRequest,
  formRef: string | undefined,
  request: IdentifiedRequest,
): never => {
  const { organizationId, formId, publicId } = earlier
  const isSameForm =
    formRef === undefined || (isUuid(formRef) ? formRef.toLowerCase() === formId : formRef === publicId)
  if (!isSameForm || earlier.digest !== request.digest) throw requestIdReused(organizationId, request)
  throw new RequestReplay({ organizationId, formId, publicId }, request)
}
