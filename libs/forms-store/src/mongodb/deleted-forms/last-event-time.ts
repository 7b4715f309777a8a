import type { FormsCollections } from '../documents.ts'
import type { RestorableNote } from './find-deleted.ts'

/**
 * The time of the last event of a deleted form, in milliseconds since the epoch. A collection may have moved it to a later
 * time than the note has. Index: events_by_form.
 */
export const lastEventTime = async (
  { events }: FormsCollections,
  { organizationId, formId, pendingEvents = [], deleteTime }: RestorableNote,
): Promise<number> => {
  const last = pendingEvents.at(-1)
  if (last) return last.time
  const newest = { sort: { sequence: -1 }, limit: 1, fields: ['time'] } as const
  const [found] = await events.findDurable({ organizationId, formId }, newest)
  return Math.max(deleteTime, found?.time ?? 0)
}
