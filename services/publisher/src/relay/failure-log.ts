import { ApiError } from '@fms/aip'
import type { FastifyBaseLogger } from 'fastify'

/** Interval between two log lines with the same text, in milliseconds. */
const intervalMs = 60_000

/** Returns a function that logs failures, each text at most once a minute, and none of the store (measureStore). */
export const createFailureLog = (
  logger: Pick<FastifyBaseLogger, 'error'>,
  nowMs: () => number = () => performance.now(),
): ((text: string, error: unknown) => void) => {
  const states = new Map<string, { silentUntilMs: number; failures: number }>()
  return (text, err) => {
    if (err instanceof ApiError && err.status === 'UNAVAILABLE') return
    const state = states.get(text) ?? { silentUntilMs: Number.NEGATIVE_INFINITY, failures: 0 }
    states.set(text, state)
    state.failures++
    if (nowMs() < state.silentUntilMs) return
    logger.error({ err, failures: state.failures }, text)
    state.failures = 0
    state.silentUntilMs = nowMs() + intervalMs
  }
}
