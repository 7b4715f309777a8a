import { filterTooExpensive } from '../errors.ts'

/** Time limit of a list, unless the options of the store set another. */
export const defaultListTimeoutMs = 2_000

/** A check that throws FILTER_TOO_EXPENSIVE once the time is up. */
export const throwAfter = (timeoutMs: number): (() => void) => {
  const endMs = performance.now() + timeoutMs
  return () => {
    if (performance.now() >= endMs) throw filterTooExpensive(timeoutMs)
  }
}
