import { FormsApiError } from '../errors.ts'
import { parseEventStream, type ServerSentEvent } from './server-sent-events.ts'

/** The server sends at least a comment every 5 s. After this time without one, the connection is considered lost. */
const maxSilenceMs = 20_000

/**
 * Requests an event stream and parses the response. The connection closes when the iteration ends.
 *
 * @param request sends the request with the signal.
 * @throws {FormsApiError} for a response that is not an event stream. Errors of the connection, and of a server that
 *   sends nothing for 20 s, as they are.
 */
export async function* receiveEventStream(
  request: (signal: AbortSignal) => Promise<Response>,
  signal: AbortSignal | undefined,
): AsyncGenerator<ServerSentEvent> {
  const connection = new AbortController()
  const inTime = async <T>(work: Promise<T>): Promise<T> => {
    const silence = new Error(`The server sent nothing for ${maxSilenceMs / 1000} s`)
    const timer = setTimeout(() => connection.abort(silence), maxSilenceMs)
    return await work.finally(() => clearTimeout(timer))
  }
  const signals = [connection.signal, ...(signal ? [signal] : [])]
  const response = await inTime(request(AbortSignal.any(signals)))
  if (!isEventStream(response)) throw new FormsApiError(response, await inTime(response.text()))
  yield* parseEventStream(chunksOf(response.body!.getReader(), inTime))
}

const isEventStream = ({ ok, headers }: Response): boolean =>
  ok && (headers.get('content-type') ?? '').startsWith('text/event-stream')

async function* chunksOf(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  inTime: <T>(work: Promise<T>) => Promise<T>,
): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  try {
    for (;;) {
      const { done, value } = await inTime(reader.read())
      if (done) return
      yield decoder.decode(value, { stream: true })
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}
