import { ApiError, type IfMatch, ifMatchVersionHolds } from '@fms/aip'
import { type FormEvent, type FormPath, formPath } from '@fms/contracts'
import type { FormRef, FormState, Quota } from './forms-store.ts'
import type { ChangeMethod } from './requests/identified-request.ts'
import { formETag } from './resource/form-to-json.ts'

type UnnamedFormRef = Pick<FormRef, 'organizationId'> & { formRef: string | undefined }

const formPathOf = ({ organizationId, formRef }: FormRef) =>
  `organizations/${organizationId}/forms/${formRef}`

/** The organization has no form with this id or public id. */
export const formNotFound = (ref: FormRef) =>
  new ApiError(
    'NOT_FOUND',
    'FORM_NOT_FOUND',
    `There is no ${formPathOf(ref)}. List the forms, or the deleted forms.`,
    {
      metadata: { form: formPathOf(ref) },
    },
  )

/** The organization has no deleted form with this id or public id that can be restored. */
export const deletedFormNotFound = ({ organizationId, formRef }: FormRef) => {
  const deletedForm = `organizations/${organizationId}/deletedForms/${formRef}`
  return new ApiError(
    'NOT_FOUND',
    'DELETED_FORM_NOT_FOUND',
    `There is no ${deletedForm}. List the deleted forms that can be restored.`,
    { metadata: { deletedForm } },
  )
}

/** The organization has a form with the id of a new one. @param isDeleted whether it is deleted and not purged yet. */
export const formIdTaken = (form: FormPath, isDeleted: boolean) =>
  new ApiError(
    'ALREADY_EXISTS',
    'FORM_ID_TAKEN',
    isDeleted
      ? `${formPath(form)} was deleted and can be restored, so its id is taken. Restore it, purge it, or use another formId.`
      : `${formPath(form)} exists already. Read it, or use another formId.`,
    { metadata: { form: formPath(form), deleted: `${isDeleted}` } },
  )

/**
 * Another request of the organization has had the requestId: for another form, or, except of a publish, with other
 * parameters (AIP-155).
 */
export const requestIdReused = (
  organizationId: string,
  { requestId, method }: { requestId: string; method: ChangeMethod | 'publish' },
) =>
  new ApiError(
    'ALREADY_EXISTS',
    'REQUEST_ID_REUSED',
    `The requestId ${requestId} belongs to another ${method} request. Send a new requestId with each new request, and the same one only with repeats.`,
    { metadata: { organization: `organizations/${organizationId}`, requestId, method } },
  )

/** The draft changed after the caller read it (RFC 9110 If-Match, AIP-154). Reading again and retrying is safe. */
export const formMoved = (ref: FormRef, etag: string) =>
  new ApiError(
    'FAILED_PRECONDITION',
    'FORM_MOVED',
    `The form is now at ETag ${etag}. Read it again and retry.`,
    {
      http: 412,
      metadata: { form: formPathOf(ref), etag },
    },
  )

/** An unpublish of a form without a live revision: it was never published, or is taken down already. */
export const formNotLive = (ref: FormRef) =>
  new ApiError(
    'FAILED_PRECONDITION',
    'FORM_NOT_LIVE',
    `No revision of ${formPathOf(ref)} is live, so there is nothing to take down. Publish the form to make one live.`,
    { metadata: { form: formPathOf(ref) } },
  )

/**
 * Concurrent changes of the form won until the deadline.
 *
 * @param formRef undefined for a request that names no form. Then the collection takes its place.
 */
export const updateAborted = ({ organizationId, formRef }: UnnamedFormRef) => {
  const forms = `organizations/${organizationId}/forms`
  const form = formRef === undefined ? forms : `${forms}/${formRef}`
  return new ApiError(
    'ABORTED',
    'UPDATE_ABORTED',
    `Other requests kept changing ${form}. Repeat the request.`,
    {
      metadata: { form },
      retryAfterSeconds: 1,
    },
  )
}

/** A list exceeded its time limit. Its filter is valid but reads too many forms. */
export const filterTooExpensive = (timeoutMs: number) =>
  new ApiError(
    'INVALID_ARGUMENT',
    'FILTER_TOO_EXPENSIVE',
    `The list took longer than ${timeoutMs} ms. Narrow the filter with AND: a name that begins with literal text (name = "text*"), a search for three letters or more, or a range of createTime or updateTime. Order by one field, and use pageToken instead of a large skip.`,
    { metadata: { timeoutMs: `${timeoutMs}` } },
  )

/** How to get below each quota. */
const quotaAdvice: Readonly<Record<keyof Quota, string>> = {
  forms: 'Delete forms that are no longer needed',
  bytes: 'Delete forms that are no longer needed and have an owner purge them',
}

/** The organization has reached its quota. No RetryInfo: a retry succeeds only after a delete or a purge. */
export const quotaExceeded = (organizationId: string, quota: keyof Quota, limit: number, used: number) =>
  new ApiError(
    'RESOURCE_EXHAUSTED',
    'QUOTA_EXCEEDED',
    `organizations/${organizationId} has ${used} of ${limit} ${quota} and no room for this. ${quotaAdvice[quota]}, or have an operator raise MAX_${quota.toUpperCase()}_PER_ORGANIZATION.`,
    {
      metadata: {
        organization: `organizations/${organizationId}`,
        quota,
        limit: `${limit}`,
        used: `${used}`,
      },
    },
  )

/** The store has other content under one of the ids of an imported form: another state of it, or another form. */
export const formConflict = (
  record: { organizationId: string; formId: string },
  field: 'formId' | 'publicId' | 'revisionId' | 'commandId',
  value: string,
) =>
  new ApiError(
    'ALREADY_EXISTS',
    'FORM_CONFLICT',
    `${formPath(record)} was not imported: the store has different content with its ${field}, ${value}. Import into a store without this ${field}, or delete and purge the form that has it.`,
    { metadata: { form: formPath(record), field, value } },
  )

/** The log of the organization has another event at the position of an imported one, or ends elsewhere. */
export const eventConflict = ({ id, source, sequence }: FormEvent) =>
  new ApiError(
    'ALREADY_EXISTS',
    'EVENT_CONFLICT',
    `The event ${id} was not imported: the log of ${source} has another event at ${sequence}, or does not end right before it. Import the events of an organization in the order of their sequence, into a store that has no other events of it.`,
    { metadata: { source, event: id, sequence } },
  )

/** @throws {ApiError} FORM_NOT_LIVE when no revision is live. */
export const assertLive = (ref: FormRef, { live }: Pick<FormState, 'live'>): void => {
  if (!live) throw formNotLive(ref)
}

/** Checks If-Match against the draft's version. @throws {ApiError} FORM_MOVED when they differ. */
export const assertIfMatch = (ifMatch: IfMatch | undefined, ref: FormRef, current: FormState): void => {
  if (ifMatch !== undefined && !ifMatchVersionHolds(ifMatch, current.version))
    throw formMoved(ref, formETag(current))
}
