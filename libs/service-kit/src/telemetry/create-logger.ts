import { JetStreamApiError, JetStreamError } from '@nats-io/jetstream'
import { errors } from 'nats'
import { type DestinationStream, type Logger, pino } from 'pino'
import type { LogFormat } from '../config.ts'

/** Lines are buffered, since writing each one separately costs a tenth of the CPU time of its request. */
const bufferBytes = 4096
/** The longest time that a line stays in the buffer, in milliseconds. */
const flushEveryMs = 100
/** Bytes of lines that wait because they cannot be written. Further lines are lost. */
const maxWaitingBytes = 1024 ** 2

/** Creates a logger to standard output: `json`, buffered for up to 100 ms until a fatal line or the exit, or `pretty`. */
export const createLogger = async (service: string, level: string, format: LogFormat): Promise<Logger> => {
  const options = {
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: serializeError },
  }
  if (format === 'json') return pino(options, jsonDestination())
  // Loads pino-pretty only for this format.
  const { prettyDestination } = await import('./pretty-destination.ts')
  return pino(options, prettyDestination())
}

/** What the clients throw when NATS is away, refuses a request, or does not respond; the first four are defects of the caller. */
const { InvalidArgumentError, InvalidOperationError, InvalidSubjectError, ProtocolError, ...failures } =
  errors
const outages = [...Object.values(failures), JetStreamApiError, JetStreamError]

/** An error with its stack, except for an outage of NATS: it is expected, and its message is the cause. */
const serializeError = (error: Error) => {
  const serialized = pino.stdSerializers.err(error)
  return outages.some((each) => error instanceof each)
    ? { type: serialized.type, message: serialized.message }
    : serialized
}

const jsonDestination = (): DestinationStream => {
  const destination = pino.destination({
    fd: 1,
    sync: true,
    minLength: bufferBytes,
    periodicFlush: flushEveryMs,
    maxLength: maxWaitingBytes,
  })
  // A full disk under the log ends no process: lines wait for room.
  destination.on('error', () => {})
  // Its own flushSync writes to a closed pipe until it succeeds: never. A flush is synchronous as well here, and gives up.
  destination.flushSync = () => destination.flush()
  process.on('exit', () => destination.flushSync())
  return destination
}
