import { ifNoneMatchHolds } from '@fms/aip'
import type { BundledAnswer } from '@fms/contracts'
import { type FormText, formETag, renderForm } from '@fms/forms-store'

/** What the get of a form that is there is answered with: 304 when the caller's copy is current (RFC 9110). */
export const formAnswer = (
  form: FormText,
  ifNoneMatch: string | undefined,
  publicFormBaseUrl: string,
): BundledAnswer<string> => {
  const etag = formETag(form)
  return ifNoneMatchHolds(ifNoneMatch, etag)
    ? { status: 304, etag, body: '' }
    : { status: 200, etag, body: renderForm(form, publicFormBaseUrl) }
}
