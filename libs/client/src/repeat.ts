import { FormsApiError, FormsConnectionError, isReason } from './errors.ts'

/** What a failed sending tells of the request: it was refused, it was not carried out, or it may have been. */
export type Outcome = 'refused' | 'notDone' | 'unknown'

export const outcomeOf = (error: unknown): Outcome => {
  if (error instanceof FormsConnectionError) return 'unknown'
  if (!(error instanceof FormsApiError)) return 'refused'
  if (error.code === 429 || isReason(error, 'AUTHENTICATION_UNAVAILABLE', 'UPDATE_ABORTED')) return 'notDone'
  return [502, 503, 504].includes(error.code) ? 'unknown' : 'refused'
}

const firstPauseMs = 250
const longestPauseMs = 8_000
/** Nobody waits for longer in the middle of a call: the caller is told how long it would have been. */
const longestRetryAfterSeconds = 60

/**
 * How long to wait before sending again: what the server asks for, and then up to 250 ms, doubled with each failure
 * until it is 8 s. Chance spreads those who failed together.
 *
 * @param failures how many sendings have failed before this one.
 * @returns undefined when the server asks for more than a minute.
 */
export const pauseMs = (failures: number, random: number, retryAfterSeconds = 0): number | undefined =>
  retryAfterSeconds > longestRetryAfterSeconds
    ? undefined
    : retryAfterSeconds * 1_000 + random * Math.min(longestPauseMs, firstPauseMs * 2 ** failures)
