import { FormsApiError } from '../errors.ts'

export interface ServerSentEvent {
  /** The id of this block, or of the last block that has one; `""` for none. */
  id: string
  /** `""` for a block without data. */
  data: string
}

/**
 * Parses an event stream (HTML Living Standard, §9.2.6). Drops an incomplete block at the end, as browsers do. Ignores
 * comments, `event` and `retry`: the data of a form event has its type.
 */
export async function* parseEventStream(chunks: AsyncIterable<string>): AsyncGenerator<ServerSentEvent> {
  let id = ''
  let data: string[] = []
  for await (const line of linesOf(chunks)) {
    if (line === '') {
      yield { id, data: data.join('\n') }
      data = []
      continue
    }
    // The field of a comment is "".
    const { field, value } = fieldIn(line)
    if (field === 'data') data.push(value)
    if (field === 'id' && !value.includes('\0')) id = value
  }
}

/** Lines end with CRLF, LF or CR. A CR at the end of a chunk may be half of a CRLF, so it waits for the next chunk. */
async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop()!
    yield* lines
  }
}

const fieldIn = (line: string) => {
  const colon = line.indexOf(':')
  if (colon === -1) return { field: line, value: '' }
  return { field: line.slice(0, colon), value: line.slice(colon + 1).replace(/^ /, '') }
}

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
