import type { DestinationStream, LogDescriptor } from 'pino'
import pretty from 'pino-pretty'

/** Fields that stand in the message, in its order, instead of behind it. */
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

/** A colour of each service, so that its lines are found at a glance. */
const colourOf = { gateway: 'cyan', organizations: 'magenta', forms: 'green', publisher: 'blue' } as const

/** Lines for people: time, level, service, then a request in one line, or what happened with its fields. */
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
  const gone = message === 'answered' ? '' : ` (${message})`
  return `${method} ${route ?? 'no such path'} ${status} ${durationMs} ms${gone}  ${requestId ?? ''}`.trimEnd()
}
