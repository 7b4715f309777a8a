import { type Logger, pino } from 'pino'

/** Lines are written together, since a write for each costs as much as a tenth of the request that it tells of. */
const bufferBytes = 4096
/** So long the last lines of a quiet service may wait, in milliseconds. */
const flushEveryMs = 100

/** Logs to standard output, one JSON object a line. What is fatal is written at once, and everything at an orderly end. */
export const createLogger = (service: string, level: string): Logger => {
  const destination = pino.destination({
    fd: 1,
    sync: true,
    minLength: bufferBytes,
    periodicFlush: flushEveryMs,
  })
  process.on('exit', () => destination.flushSync())
  return pino({ level, base: { service }, timestamp: isoTime }, destination)
}

let lastMs = 0
let lastTime = ''

/** What `pino.stdTimeFunctions.isoTime` gives, made once for all lines of a millisecond. */
const isoTime = (): string => {
  const ms = Date.now()
  if (ms !== lastMs) {
    lastMs = ms
    lastTime = `,"time":"${new Date(ms).toISOString()}"`
  }
  return lastTime
}
