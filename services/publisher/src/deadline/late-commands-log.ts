import { throttle } from '@fms/service-kit'
import type { FastifyBaseLogger } from 'fastify'

/** Returns a function that counts a late command. Logs the count at most once a second. */
export const createLateCommandsLog = (logger: FastifyBaseLogger): (() => void) => {
  let late = 0
  const write = throttle(() => {
    logger.warn({ commands: late }, 'late commands discarded: their callers no longer wait')
    late = 0
  }, 1_000)
  return () => {
    late++
    write()
  }
}
