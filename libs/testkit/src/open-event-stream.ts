import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'

/** A block of a stream of server-sent events (WHATWG HTML §9.2.6): the last value of each field. */
export interface StreamBlock {
  id?: string
  event?: string
  data?: string
  /** Whether a line is a comment. */
  hasComment: boolean
}

/** An open stream of server-sent events, read by a test. */
export interface OpenEventStream extends Disposable {
  status: number
  headers: IncomingHttpHeaders
  /** All complete blocks received so far. */
  blocks: StreamBlock[]
  /** The `data` of the blocks so far, parsed. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read members of events of many types
  events(): any[]
  /** Everything received so far. */
  text(): string
  /** How the response ended; undefined while it is open. `broken` if its last chunk is missing. */
  ended(): 'complete' | 'broken' | undefined
  /** Stops reading, so that the service has to wait. */
  pause(): void
  resume(): void
  /** Closes the connection. */
  close(): void
}

/** Requests a stream on a connection of its own. Resolves when the head of the response has arrived, also with an error. */
export const openEventStream = (
  url: string,
  headers: Record<string, string> = {},
): Promise<OpenEventStream> =>
  new Promise((resolve, reject) => {
    const agent = new Agent({ keepAlive: false })
    const outgoing = request(url, { agent, headers })
    outgoing.once('error', reject)
    outgoing.once('response', (response) => {
      outgoing.off('error', reject).on('error', () => {})
      resolve(readStream(response, () => outgoing.destroy()))
    })
    outgoing.end()
  })

const readStream = (response: IncomingMessage, close: () => void): OpenEventStream => {
  let text = ''
  let rest = ''
  let ended: 'complete' | 'broken' | undefined
  const blocks: StreamBlock[] = []
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    const parts = (rest + chunk).split('\n\n')
    rest = parts.pop()!
    blocks.push(...parts.map(toBlock))
  })
  response.on('error', () => {})
  response.once('close', () => {
    ended = response.complete ? 'complete' : 'broken'
  })
  return {
    status: response.statusCode!,
    headers: response.headers,
    blocks,
    events: () => blocks.flatMap(({ data }) => (data === undefined ? [] : [JSON.parse(data)])),
    text: () => text,
    ended: () => ended,
    pause: () => void response.pause(),
    resume: () => void response.resume(),
    close,
    [Symbol.dispose]: close,
  }
}

const toBlock = (text: string): StreamBlock => {
  const lines = text.split('\n')
  const fields = lines.filter((line) => !line.startsWith(':')).map((line) => line.split(/: ?(.*)/, 2))
  return { ...Object.fromEntries(fields), hasComment: lines.some((line) => line.startsWith(':')) }
}
