import { ApiError, type FieldViolation, maxFieldViolations } from '@fms/aip'
import { formatSequence } from '@fms/contracts'
import type { EventLogRange, FormRef } from '@fms/forms-store'

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

/** The rules of this release refuse the snapshot of a revision, so the draft cannot take it over. */
export const revisionNotRestorable = (violations: FieldViolation[]) => {
  const preconditionViolations = violations
    .slice(0, maxFieldViolations)
    .map(({ field, description }) => ({ type: 'FIELD_INVALID', subject: field, description }))
  const [first] = preconditionViolations
  const others = violations.length > 1 ? ' (and others)' : ''
  return new ApiError(
    'FAILED_PRECONDITION',
    'REVISION_NOT_RESTORABLE',
    `The draft cannot be rolled back to this revision, because the current rules reject it: ${first?.subject} ${first?.description}${others}. Read the revision, correct the fields in violations, and update the form with the result.`,
    { preconditionViolations, metadata: { subject: first?.subject ?? '' } },
  )
}

/** The log of the organization has no event with this id: it never existed, or retention has removed it. */
export const eventNotFound = (organizationId: string, eventId: string) => {
  const event = `organizations/${organizationId}/events/${eventId}`
  return new ApiError(
    'NOT_FOUND',
    'EVENT_NOT_FOUND',
    `There is no ${event}. List the events of the organization.`,
    {
      metadata: { event },
    },
  )
}

/**
 * The caller names a position that the log has not reached: it is mistaken, or the store was restored from a backup.
 *
 * @param last the sequence of the last event.
 */
export const afterLastEvent = (last: number) => {
  const lastSequence = formatSequence(last)
  return new ApiError(
    'OUT_OF_RANGE',
    'AFTER_LAST_EVENT',
    `The last event is ${lastSequence}. Start after this one or an earlier one. If you have read later events, the log was restored from a backup: read all forms again.`,
    { metadata: { lastSequence } },
  )
}

/** The caller would miss events that retention has removed. */
export const eventsPruned = (range: EventLogRange) => {
  const oldestSequence = formatSequence(range.oldestSequence)
  const lastSequence = formatSequence(range.lastSequence)
  return new ApiError(
    'OUT_OF_RANGE',
    'EVENTS_PRUNED',
    `Events before ${oldestSequence} have been removed. Read all forms, then continue with afterSequence=${lastSequence}.`,
    { metadata: { oldestSequence, lastSequence } },
  )
}
