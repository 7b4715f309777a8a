import type { FastifyBaseLogger } from 'fastify'

/** Between two lines, in milliseconds. */
const intervalMs = 1_000

/** Logs how many commands were late: at most one line a second, however many there are. */
export const createLateCommandsLog = (logger: FastifyBaseLogger): (() => void) => {
  let late = 0
  let timer: NodeJS.Timeout | undefined
  const write = () => {
    timer = undefined
    if (late === 0) return
    logger.warn({ commands: late }, 'late commands ended: their callers no longer wait')
    late = 0
    timer = setTimeout(write, intervalMs).unref()
  }
  return () => {
    late++
    if (!timer) write()
  }
}
