import { FormsApiError, FormsConnectionError, isReason } from '../errors.ts'

/** Outcome of a failed attempt: rejected, not executed (a retry may succeed), or perhaps executed. */
export type Outcome = 'rejected' | 'notExecuted' | 'unknown'

export const outcomeOf = (error: unknown): Outcome => {
  if (error instanceof FormsConnectionError) return error.mayBeBlocked ? 'rejected' : 'unknown'
  if (!(error instanceof FormsApiError)) return 'rejected'
  if (isReason(error, 'QUOTA_EXCEEDED')) return 'rejected'
  if (error.code === 429 || isReason(error, 'AUTHENTICATION_UNAVAILABLE', 'UPDATE_ABORTED'))
    return 'notExecuted'
  return [502, 503, 504].includes(error.code) ? 'unknown' : 'rejected'
}

const firstPauseMs = 250
const longestPauseMs = 8_000
/** For a longer `Retry-After` the call does not wait: it throws the error, which has the delay. */
export const longestRetryAfterSeconds = 60

/**
 * Delay before a retry in milliseconds: the `Retry-After` of the response plus exponential backoff with full jitter,
 * up to 250 ms at first, doubled with each failure to at most 8 s.
 *
 * @param failures number of earlier failed attempts; 0 or more.
 * @param random the jitter, 0 to 1.
 * @param retryAfterSeconds from the response; default 0.
 * @returns undefined for a `Retry-After` of more than a minute.
 */
export const pauseMs = (failures: number, random: number, retryAfterSeconds = 0): number | undefined =>
  retryAfterSeconds > longestRetryAfterSeconds
    ? undefined
    : retryAfterSeconds * 1_000 + random * Math.min(longestPauseMs, firstPauseMs * 2 ** failures)

export interface Clock {
  /** Waits. @throws the reason of the signal when it aborts. */
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void>
  /** 0 to 1. */
  random(): number
}

const sleep: Clock['sleep'] = (ms, signal) =>
  new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal!.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })

export const systemClock: Clock = { sleep, random: Math.random }
