import { ApiError } from '@fms/aip'
import type { FastifyBaseLogger } from 'fastify'

export type OutageLogger = Pick<FastifyBaseLogger, 'error' | 'info'>

/** Between two log lines about the same cause, in milliseconds. */
const intervalMs = 60_000

/**
 * Logs when a store becomes unavailable, with the cause and what an operator can do, and when the operation that failed
 * succeeds again: a line each, since many requests fail for the same reason.
 *
 * @param name of the store; `{NAME}_STORE_URL` configures it.
 */
export const createOutageLog = (name: string, logger: OutageLogger) => {
  const variable = `${name.toUpperCase()}_STORE_URL`
  // Bounded: there are few causes.
  const silentUntilMs = new Map<string, number>()
  let failing: string | undefined
  return {
    onError(operation: string, error: unknown) {
      if (!(error instanceof ApiError) || error.status !== 'UNAVAILABLE') return
      const { advice, cause } = error.parts
      const why = advice ?? (cause instanceof Error ? cause.message : error.message)
      if (performance.now() < (silentUntilMs.get(why) ?? 0)) return
      silentUntilMs.set(why, performance.now() + intervalMs)
      failing = operation
      logger.error(
        { store: name, variable, reason: error.reason },
        `the ${name} store (${variable}) is unavailable: ${why}`,
      )
    },
    onSuccess(operation: string) {
      if (operation !== failing) return
      failing = undefined
      logger.info({ store: name }, `the ${name} store is available again`)
    },
  }
}
