import { apiError } from '@fms/aip'
import { formatSequence } from '@fms/contracts'
import type { EventLogRange } from '@fms/forms-store'

/** The caller would miss events that retention has removed. */
export const eventsPruned = ({ oldestSequence, lastSequence }: EventLogRange) =>
  apiError('EVENTS_PRUNED', {
    oldestSequence: formatSequence(oldestSequence),
    lastSequence: formatSequence(lastSequence),
  })

/** Checks that no event after `sequence` has been removed. @throws {ApiError} EVENTS_PRUNED. */
export const assertNotPruned = (sequence: number, range: EventLogRange): void => {
  if (sequence < range.oldestSequence - 1) throw eventsPruned(range)
}
