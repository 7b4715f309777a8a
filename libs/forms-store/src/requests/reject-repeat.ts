import { isUuid } from '@fms/contracts'
import { requestIdReused } from '../errors.ts'
import { type IdentifiedRequest, type ReplayedForm, RequestReplay } from './identified-request.ts'

/** A request that was carried out before. */
export interface EarlierRequest extends ReplayedForm {
  digest: string
}

/**
 * Whether a request repeats an earlier one with the same id: both have the same form and digest.
 *
 * @param formRef the form that the request names; undefined for a create.
 */
export const isRepeat = (
  { formId, publicId, digest }: EarlierRequest,
  formRef: string | undefined,
  request: IdentifiedRequest,
): boolean => {
  const names = (ref: string) => (isUuid(ref) ? ref.toLowerCase() === formId : ref === publicId)
  return digest === request.digest && (formRef === undefined || names(formRef))
}

/**
 * Rejects a request whose id an earlier one has had.
 *
 * @param formRef the form that the request names; undefined for a create.
 * @throws {RequestReplay} when both have the same form and digest; {ApiError} REQUEST_ID_REUSED otherwise.
 */
export const rejectRepeat = (
  earlier: EarlierRequest,
  formRef: string | undefined,
  request: IdentifiedRequest,
): never => {
  const { organizationId, formId, publicId } = earlier
  if (!isRepeat(earlier, formRef, request)) throw requestIdReused(organizationId, request)
  throw new RequestReplay({ organizationId, formId, publicId })
}
