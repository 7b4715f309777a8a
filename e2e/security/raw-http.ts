import { connect } from 'node:net'

/** How an answer begins, and its body where it has one. */
export interface RawAnswer {
  status: number
  headers: Record<string, string>
  body: string
}

/**
 * Sends bytes as they are on a connection of their own and reads until the server ends it, or has given as many
 * answers as asked for.
 *
 * @param heads which of the requests are HEAD, whose answers have no body.
 */
export const sendRaw = (
  port: number,
  bytes: string | Buffer,
  { answers = Number.POSITIVE_INFINITY, heads = [] as number[] } = {},
): Promise<{ answers: RawAnswer[]; ended: boolean }> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    let received: Buffer = Buffer.alloc(0)
    const look = (ended: boolean) => {
      const read = readAnswers(received, heads)
      if (!ended && read.length < answers) return
      socket.destroy()
      resolve({ answers: read, ended })
    }
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      look(false)
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // What the server does to a client that goes on sending after it was refused.
      if (!['ECONNRESET', 'EPIPE'].includes(error.code ?? '')) reject(error)
    })
    socket.on('close', () => look(true))
  })

const readAnswers = (received: Buffer, heads: number[]): RawAnswer[] => {
  const answers: RawAnswer[] = []
  let rest = received
  let number = 0
  for (;;) {
    const end = rest.indexOf('\r\n\r\n')
    if (end < 0) return answers
    const [statusLine = '', ...lines] = rest.subarray(0, end).toString('latin1').split('\r\n')
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1])
    if (!status) throw new Error(`no answer begins with ${JSON.stringify(statusLine)}`)
    const headers = Object.fromEntries(
      lines.map((line) => [line.split(':', 1)[0]!.toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    )
    const length = heads.includes(number) || status === 100 ? 0 : Number(headers['content-length'] ?? 0)
    if (rest.length < end + 4 + length) return answers
    const body = rest.subarray(end + 4, end + 4 + length).toString()
    rest = rest.subarray(end + 4 + length)
    if (status === 100) continue
    answers.push({ status, headers, body })
    number++
  }
}
