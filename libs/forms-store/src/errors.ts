import { ApiError, type IfMatch, ifMatchVersionHolds } from '@fms/aip'
import { formPath } from '@fms/contracts'
import type { FormRef, FormState, Quota } from './forms-store.ts'
import { formETag } from './resource/form-to-json.ts'

const formName = ({ organizationId, formRef }: FormRef) => `organizations/${organizationId}/forms/${formRef}`

/** No form has this id or public id in this organization, or no longer. */
export const formNotFound = (ref: FormRef) =>
  new ApiError(
    'NOT_FOUND',
    'FORM_NOT_FOUND',
    `There is no ${formName(ref)}. List the forms to see which there are.`,
    {
      metadata: { form: formName(ref) },
    },
  )

/** The draft changed after the caller read it (RFC 9110 If-Match, AIP-154). Reading again and retrying is safe. */
export const formMoved = (ref: FormRef, etag: string) =>
  new ApiError(
    'FAILED_PRECONDITION',
    'FORM_MOVED',
    `The form is now at ETag ${etag}. Read it again and retry.`,
    {
      http: 412,
      metadata: { form: formName(ref), etag },
    },
  )

/** Others kept changing the form until the request's deadline. */
export const updateAborted = (ref: FormRef) =>
  new ApiError('ABORTED', 'UPDATE_ABORTED', `Others kept changing ${formName(ref)}. Repeat the request.`, {
    metadata: { form: formName(ref) },
    retryAfterSeconds: 1,
  })

/** A list looked at so many forms that it was ended. Nothing is wrong with the filter but what it takes. */
export const filterTooExpensive = (timeoutMs: number) =>
  new ApiError(
    'INVALID_ARGUMENT',
    'FILTER_TOO_EXPENSIVE',
    `The list took longer than ${timeoutMs} ms. Narrow the filter, as with a name that begins with literal text (name = "text*"), a search for three letters or more, or a range of createTime or updateTime, joined by AND; order by one field, and use pageToken in place of a large skip.`,
    { metadata: { timeoutMs: `${timeoutMs}` } },
  )

/** Tells the gateway that a service only has too much to do: no circuit shall open for that. */
const shedHeader = 'x-fms-shed'

/** So many lists that look at many forms are under way that this one did not get its turn in time. */
export const listsOverloaded = () =>
  new ApiError(
    'UNAVAILABLE',
    'OVERLOADED',
    'Too many lists are under way that look at many forms. Nothing was done; repeat the request a little later, or narrow its filter.',
    { retryAfterSeconds: 1, headers: { [shedHeader]: 'true' } },
  )

/** The organization has as much as it may. No RetryInfo: a repeat helps once something was deleted. */
export const quotaExceeded = (organizationId: string, quota: keyof Quota, limit: number, used: number) =>
  new ApiError(
    'RESOURCE_EXHAUSTED',
    'QUOTA_EXCEEDED',
    `organizations/${organizationId} has ${used} of ${limit} ${quota} and no room for this. Delete forms that are no longer needed, or have an operator raise MAX_${quota.toUpperCase()}_PER_ORGANIZATION.`,
    {
      metadata: {
        organization: `organizations/${organizationId}`,
        quota,
        limit: `${limit}`,
        used: `${used}`,
      },
    },
  )

/** An import met something else under one of the form's ids: the form in another state, or another one. */
export const formConflict = (
  record: { organizationId: string; formId: string },
  field: 'formId' | 'publicId' | 'revisionId' | 'commandId',
  value: string,
) =>
  new ApiError(
    'ALREADY_EXISTS',
    'FORM_CONFLICT',
    `The store has something else under the ${field} ${value} of ${formPath(record)}, which was not imported. Import into a store that has no such form, or delete that form first.`,
    { metadata: { form: formPath(record), field, value } },
  )

/** @throws {ApiError} FORM_MOVED when the caller has seen another state of the draft. */
export const assertIfMatch = (ifMatch: IfMatch | undefined, ref: FormRef, current: FormState): void => {
  if (ifMatch !== undefined && !ifMatchVersionHolds(ifMatch, current.version))
    throw formMoved(ref, formETag(current))
}
