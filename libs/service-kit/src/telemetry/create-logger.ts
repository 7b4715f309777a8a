import { type DestinationStream, type Logger, pino } from 'pino'
import type { LogFormat } from '../config.ts'

/** Lines are written together, since a write for each costs as much as a tenth of the request that it tells of. */
const bufferBytes = 4096
/** So long the last lines of a quiet service may wait, in milliseconds. */
const flushEveryMs = 100

/**
 * Logs to standard output: `json` is an object a line, written at once when it is fatal and at an orderly end; `pretty` is
 * lines for people, each written at once.
 */
export const createLogger = async (service: string, level: string, format: LogFormat): Promise<Logger> => {
  const options = { level, base: { service }, timestamp: isoTime }
  return pino(options, format === 'pretty' ? await prettyDestination() : jsonDestination())
}

/** What JSON does without is loaded by those who read lines. */
const prettyDestination = async (): Promise<DestinationStream> =>
  (await import('./pretty-destination.ts')).prettyDestination()

const jsonDestination = (): DestinationStream => {
  const destination = pino.destination({
    fd: 1,
    sync: true,
    minLength: bufferBytes,
    periodicFlush: flushEveryMs,
  })
  process.on('exit', () => destination.flushSync())
  return destination
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
