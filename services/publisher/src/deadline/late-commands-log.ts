import type { FastifyBaseLogger } from 'fastify'

/** Between two log lines, in milliseconds. */
const intervalMs = 1_000

/** Returns a function that counts a late command. Logs the count at most once a second. */
export const createLateCommandsLog = (logger: FastifyBaseLogger): (() => void) => {
  let late = 0
  let timer: NodeJS.Timeout | undefined
  const write = () => {
    timer = undefined
    if (late === 0) return
    logger.warn({ commands: late }, 'late commands discarded: their callers no longer wait')
    late = 0
    timer = setTimeout(write, intervalMs).unref()
  }
  return () => {
    late++
    if (!timer) write()
  }
}
