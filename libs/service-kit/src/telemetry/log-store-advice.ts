import { ApiError } from '@fms/aip'
import type { FastifyBaseLogger } from 'fastify'

export type ErrorLogger = Pick<FastifyBaseLogger, 'error'>

/** Between two log lines with the same advice, in milliseconds. */
const intervalMs = 60_000

/**
 * Returns a function that logs the advice of an error, if it has one: each advice at most once a minute,
 * since many requests fail for the same reason.
 *
 * @param name of the store; `{NAME}_STORE_URL` configures it.
 */
export const createStoreAdviceLog = (name: string, logger: ErrorLogger): ((error: unknown) => void) => {
  const variable = `${name.toUpperCase()}_STORE_URL`
  // Bounded: there are few texts of advice.
  const silentUntilMs = new Map<string, number>()
  return (error) => {
    const advice = error instanceof ApiError ? error.parts.advice : undefined
    if (advice === undefined || performance.now() < (silentUntilMs.get(advice) ?? 0)) return
    silentUntilMs.set(advice, performance.now() + intervalMs)
    logger.error({ store: name, variable }, `the ${name} store (${variable}) is unavailable: ${advice}`)
  }
}
