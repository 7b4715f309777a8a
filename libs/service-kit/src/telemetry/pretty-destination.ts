import type { DestinationStream, LogDescriptor } from 'pino'
import pretty from 'pino-pretty'

/** Fields that are part of the message, in this order, and are not repeated after it. */
const inMessage = [
  'service',
  'method',
  'route',
  'status',
  'duration_ms',
  'request_id',
  'user',
  'organization',
]

const colourOf = { gateway: 'cyan', organizations: 'magenta', forms: 'green', publisher: 'blue' } as const

/** Writes lines for people: time, level and service, then a request in one line, or a message with its fields. */
export const prettyDestination = (): DestinationStream =>
  pretty({
    colorize: pretty.isColorSupported,
    destination: 1,
    sync: true,
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss',
    ignore: ['pid', 'hostname', ...inMessage].join(','),
    messageFormat: (line, messageKey, _level, { colors }) => {
      const service = String(line.service)
      const colour = colors[colourOf[service as keyof typeof colourOf] ?? 'gray']
      return `${colour(service.padEnd(13))} ${textOf(line, messageKey)}`
    },
  })

const textOf = (line: LogDescriptor, messageKey: string): string => {
  const { method, route, status, duration_ms: durationMs, request_id: requestId } = line
  const message = String(line[messageKey] ?? '')
  if (method === undefined || status === undefined) return requestId ? `${message} (${requestId})` : message
  const suffix = message === 'request completed' ? '' : ` (${message})`
  return `${method} ${route ?? 'no such path'} ${status} ${durationMs} ms${suffix}  ${requestId ?? ''}`.trimEnd()
}
