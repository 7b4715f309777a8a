import { connect } from 'node:net'

/** An HTTP response as it was read from a socket. */
export interface RawResponse {
  status: number
  headers: Record<string, string>
  body: string
}

/**
 * Sends bytes unchanged on a new connection, and reads until the server ends it or has sent the given number of
 * responses.
 *
 * @param heads indexes of the requests that are HEAD, whose responses have no body.
 */
export const sendRaw = (
  port: number,
  bytes: string | Buffer,
  { responses = Number.POSITIVE_INFINITY, heads = [] as number[] } = {},
): Promise<{ responses: RawResponse[]; ended: boolean }> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    let received: Buffer = Buffer.alloc(0)
    const finishIfComplete = (ended: boolean) => {
      const read = readResponses(received, heads)
      if (!ended && read.length < responses) return
      socket.destroy()
      resolve({ responses: read, ended })
    }
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      finishIfComplete(false)
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // The server resets the connection of a client that continues to send after its request was rejected.
      if (!['ECONNRESET', 'EPIPE'].includes(error.code ?? '')) reject(error)
    })
    socket.on('close', () => finishIfComplete(true))
  })

const readResponses = (received: Buffer, heads: number[]): RawResponse[] => {
  const responses: RawResponse[] = []
  let rest = received
  let number = 0
  for (;;) {
    const end = rest.indexOf('\r\n\r\n')
    if (end < 0) return responses
    const [statusLine = '', ...lines] = rest.subarray(0, end).toString('latin1').split('\r\n')
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1])
    if (!status) throw new Error(`not a status line: ${JSON.stringify(statusLine)}`)
    const headers = Object.fromEntries(
      lines.map((line) => [line.split(':', 1)[0]!.toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    )
    const length = heads.includes(number) || status === 100 ? 0 : Number(headers['content-length'] ?? 0)
    if (rest.length < end + 4 + length) return responses
    const body = rest.subarray(end + 4, end + 4 + length).toString()
    rest = rest.subarray(end + 4 + length)
    if (status === 100) continue
    responses.push({ status, headers, body })
    number++
  }
}
