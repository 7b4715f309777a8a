import { apiError, type FieldViolation } from '@fms/aip'
import { formatSequence } from '@fms/contracts'
import type { EventLogRange, FormRef } from '@fms/forms-store'

/** The form has no revision with this id, or no live revision because it was never published. */
export const revisionNotFound = ({ organizationId, formRef }: FormRef, revisionRef: string) =>
  apiError('REVISION_NOT_FOUND', {
    revision: `organizations/${organizationId}/forms/${formRef}/revisions/${revisionRef}`,
  })

/** The rules of this release refuse the snapshot of a revision, so the draft cannot take it over. */
export const revisionNotRestorable = (violations: FieldViolation[]) =>
  apiError(
    'REVISION_NOT_RESTORABLE',
    { subject: violations[0]?.field ?? '' },
    {
      preconditionViolations: violations.map(({ field, description }) => ({
        type: 'FIELD_INVALID',
        subject: field,
        description,
      })),
    },
  )

/** The log of the organization has no event with this id: it never existed, or retention has removed it. */
export const eventNotFound = (organizationId: string, eventId: string) =>
  apiError('EVENT_NOT_FOUND', { event: `organizations/${organizationId}/events/${eventId}` })

/**
 * The caller names a position that the log has not reached: it is mistaken, or the store was restored from a backup.
 *
 * @param last the sequence of the last event.
 */
export const afterLastEvent = (last: number) =>
  apiError('AFTER_LAST_EVENT', { lastSequence: formatSequence(last) })

/** The caller would miss events that retention has removed. */
export const eventsPruned = ({ oldestSequence, lastSequence }: EventLogRange) =>
  apiError('EVENTS_PRUNED', {
    oldestSequence: formatSequence(oldestSequence),
    lastSequence: formatSequence(lastSequence),
  })
