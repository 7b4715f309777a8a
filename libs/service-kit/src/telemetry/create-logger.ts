import { type DestinationStream, type Logger, pino } from 'pino'
import type { LogFormat } from '../config.ts'

/** Lines are buffered, since writing each one separately costs a tenth of the CPU time of its request. */
const bufferBytes = 4096
/** The longest time that a line stays in the buffer, in milliseconds. */
const flushEveryMs = 100

/** Creates a logger to standard output: `json`, buffered for up to 100 ms until a fatal line or the exit, or `pretty`. */
export const createLogger = async (service: string, level: string, format: LogFormat): Promise<Logger> => {
  const options = { level, base: { service }, timestamp: pino.stdTimeFunctions.isoTime }
  return pino(options, format === 'pretty' ? await prettyDestination() : jsonDestination())
}

/** Loads pino-pretty only for this format. */
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
