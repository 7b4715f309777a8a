import { apiError, type IfMatch, ifMatchVersionHolds } from '@fms/aip'
import { type FormEvent, type FormPath, formatSequence, formPath } from '@fms/contracts'
import type { EventLogRange } from './events/event-log.ts'
import type { FormMetadata, FormRef, NamedForm, Quota } from './forms-store.ts'
import { formETag } from './resource/form-to-json.ts'

const formPathOf = ({ organizationId, formRef }: FormRef) =>
  `organizations/${organizationId}/forms/${formRef}`

export const formNotFound = (ref: FormRef) => apiError('FORM_NOT_FOUND', { form: formPathOf(ref) })

/** The organization has no deleted form with this id or public id that can be restored. */
export const deletedFormNotFound = ({ organizationId, formRef }: FormRef) =>
  apiError('DELETED_FORM_NOT_FOUND', {
    deletedForm: `organizations/${organizationId}/deletedForms/${formRef}`,
  })

/** The organization has a form with the id of a new one. @param isDeleted whether it is deleted and not purged yet. */
export const formIdTaken = (form: FormPath, isDeleted: boolean) =>
  apiError('FORM_ID_TAKEN', { form: formPath(form), deleted: `${isDeleted}` })

/**
 * Another request of the organization has had the requestId: for another form, or, except of a publish, with other
 * parameters (AIP-155).
 */
export const requestIdReused = (
  organizationId: string,
  { requestId, method }: { requestId: string; method: string },
) => apiError('REQUEST_ID_REUSED', { organization: `organizations/${organizationId}`, requestId, method })

/** Concurrent changes won until the deadline. @param formRef undefined for a request that names no form. */
export const updateAborted = ({ organizationId, formRef }: NamedForm) => {
  const forms = `organizations/${organizationId}/forms`
  return apiError('UPDATE_ABORTED', { form: formRef === undefined ? forms : `${forms}/${formRef}` })
}

/** A list exceeded its time limit. Its filter is valid but reads too many forms. */
export const filterTooExpensive = (timeoutMs: number) =>
  apiError('FILTER_TOO_EXPENSIVE', { timeoutMs: `${timeoutMs}` })

/** The organization has reached its quota. A retry succeeds only after a delete or a purge. */
export const quotaExceeded = (organizationId: string, quota: keyof Quota, limit: number, used: number) =>
  apiError('QUOTA_EXCEEDED', {
    organization: `organizations/${organizationId}`,
    quota,
    limit: `${limit}`,
    used: `${used}`,
  })

/** The store has other content under one of the ids of an imported form: another state of it, or another form. */
export const formConflict = (
  record: { organizationId: string; formId: string },
  field: 'formId' | 'publicId' | 'revisionId' | 'commandId',
  value: string,
) => apiError('FORM_CONFLICT', { form: formPath(record), field, value })

/** The log of the organization has another event at the position of an imported one, or ends elsewhere. */
export const eventConflict = ({ id, source, sequence }: FormEvent) =>
  apiError('EVENT_CONFLICT', { source, event: id, sequence })

/** An unpublish of a form without a live revision: it was never published, or is taken down already. */
export const formNotLive = (ref: FormRef) => apiError('FORM_NOT_LIVE', { form: formPathOf(ref) })

/** Checks If-Match against the draft's version (RFC 9110, AIP-154). @throws {ApiError} FORM_MOVED when they differ. */
export const assertIfMatch = (ifMatch: IfMatch | undefined, ref: FormRef, current: FormMetadata): void => {
  if (ifMatch !== undefined && !ifMatchVersionHolds(ifMatch, current.version))
    throw apiError('FORM_MOVED', { form: formPathOf(ref), etag: formETag(current) })
}

/** Checks that the log has reached a position; one that was restored from a backup may not. @throws {ApiError} AFTER_LAST_EVENT. */
export const assertReached = (sequence: number, { lastSequence }: EventLogRange): void => {
  if (sequence > lastSequence) {
    throw apiError('AFTER_LAST_EVENT', { lastSequence: formatSequence(lastSequence) })
  }
}
