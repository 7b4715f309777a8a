import { setTimeout as sleep } from 'node:timers/promises'

/** The result of an attempt that found another write in between. */
export const writeConflict = Symbol('write conflict')

const timeoutMs = 5_000
const maxBackoffMs = 100

/** When retries that begin now end, by `performance.now()`: in 5 s. */
export const conflictDeadline = (): number => performance.now() + timeoutMs

/** Repeats a compare-and-set on conflict, with exponential backoff and jitter. After `deadline`, throws `onGiveUp()`. */
export const retryOnConflict = async <T>(
  attempt: () => Promise<T | typeof writeConflict>,
  onGiveUp: () => Error,
  deadline = conflictDeadline(),
): Promise<T> => {
  for (let round = 0; ; round++) {
    const outcome = await attempt()
    if (outcome !== writeConflict) return outcome
    if (performance.now() > deadline) throw onGiveUp()
    await sleep(Math.random() * Math.min(2 ** round, maxBackoffMs))
  }
}
