/** Which events retention deletes, from the start of each log. */
export interface Retention {
  before: number
  /** Events of a log that stay; Infinity for all. */
  maxEvents: number
  /** Events from this time on stay, however many there are. */
  youngest: number
}

/**
 * For how long the bound of a log deletes no event: until then it keeps the `requestId` of its change, and its readers, and
 * relays that number events, have got past it.
 */
const minAgeMs = 24 * 60 * 60 * 1_000

/** @param maxEvents 0 for no bound. */
export const retention = (before: Date, maxEvents = 0): Retention => ({
  before: before.getTime(),
  maxEvents: maxEvents > 0 ? maxEvents : Number.POSITIVE_INFINITY,
  youngest: Date.now() - minAgeMs,
})

/** Whether an event may go, if it is in the stream and not the newest one. */
export const mayGo = (
  { sequence, time }: { sequence: number; time: number },
  streamedSequence: number,
  { before, maxEvents, youngest }: Retention,
): boolean => time < before || (time < youngest && sequence <= streamedSequence - maxEvents)
