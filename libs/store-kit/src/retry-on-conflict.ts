import { setTimeout as sleep } from 'node:timers/promises'

/** What an attempt gives back when somebody else was faster. */
export const writeConflict = Symbol('lost race')

const patienceMs = 5_000
const longestPauseMs = 100

/** Now, and what a race may take from now on. */
export const conflictDeadline = (): number => performance.now() + patienceMs

/**
 * Attempts a compare-and-set until nobody else was faster, with growing, random pauses in between.
 *
 * @param attempt reads afresh each time.
 * @param onGiveUp the error once the race was still lost at `deadline`, which the first attempt may be later than.
 */
export const retryOnConflict = async <T>(
  attempt: () => Promise<T | typeof writeConflict>,
  onGiveUp: () => Error,
  deadline = conflictDeadline(),
): Promise<T> => {
  for (let round = 0; ; round++) {
    const outcome = await attempt()
    if (outcome !== writeConflict) return outcome
    if (performance.now() > deadline) throw onGiveUp()
    await sleep(Math.random() * Math.min(2 ** round, longestPauseMs))
  }
}
