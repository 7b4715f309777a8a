import { once } from 'node:events'
import { Agent, request as httpRequest } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** Where an attack goes and with which key. */
export interface Target {
  /** `http://127.0.0.1:port` of the gateway. */
  origin: string
  apiKey: string
  /** Path of the attacked organization's forms, with `/v2`. */
  forms: string
  /** Public ids. */
  revisedForm: string
  largeForm: string
}

/** Ends by itself when `signal` is aborted. Calls `note` with what became of each request, such as `400 FILTER_TOO_COMPLEX`. */
export type Attack = (target: Target, signal: AbortSignal, note: (outcome: string) => void) => Promise<void>

/** Outcomes that are not the service's doing. */
export const hungUp = 'hung up'
/** The service ended a connection whose caller did not read. */
export const cutOff = 'cut off'

interface Sent {
  method?: string
  path: string
  body?: string
  /** When the caller goes away, in milliseconds. */
  hangUpAfterMs?: number
}

/** A caller that was refused comes back soon, but does not spin. */
const comesBackMs = 100

const agent = new Agent({ keepAlive: true })

/** Sends one request and reads its response. */
const send = (
  { origin, apiKey }: Target,
  { method = 'GET', path, body, hangUpAfterMs }: Sent,
  signal: AbortSignal,
): Promise<string> =>
  new Promise((resolve) => {
    const signals = [signal, ...(hangUpAfterMs ? [AbortSignal.timeout(hangUpAfterMs)] : [])]
    const request = httpRequest(`${origin}${path}`, {
      method,
      agent,
      signal: AbortSignal.any(signals),
      headers: {
        'x-api-key': apiKey,
        ...(body !== undefined && {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
        }),
      },
    })
    const lost = (error: Error) => resolve(error.name === 'AbortError' ? hungUp : `lost: ${error.message}`)
    request.once('error', lost)
    request.once('response', (response) => {
      let head = ''
      response.on('data', (chunk: Buffer) => {
        head ||= chunk.toString()
      })
      response.once('error', lost)
      response.once('end', () => resolve(outcomeOf(response.statusCode!, head)))
    })
    request.end(body)
  })

/** Of a response, such as `200` or `400 FILTER_TOO_COMPLEX`. */
export const outcomeOf = (status: number, text: string): string => {
  const reason = /"reason":"(\w+)"/.exec(text)?.[1]
  return status < 300 ? `${status}` : `${status} ${reason ?? 'without a reason'}`
}

/** So many callers, each of which sends one request after the other. */
const repeat =
  (callers: number, sent: (target: Target) => Sent): Attack =>
  async (target, signal, note) => {
    const caller = async () => {
      while (!signal.aborted) {
        const outcome = await send(target, sent(target), signal)
        note(outcome)
        if (!outcome.startsWith('2')) await delay(comesBackMs)
      }
    }
    await Promise.all(Array.from({ length: callers }, caller))
  }

/** A caller that takes nothing for so long is past the service's 10 s without a byte, in milliseconds. */
const holdMs = 12_000

/** How long a connection that is read again may take to show that it was ended, in milliseconds. */
const endsWithinMs = 3_000

/** So many connections that send a request, read the head of its response and then nothing. Each is opened again. */
const unread =
  (sockets: number, query: string): Attack =>
  async (target, signal, note) => {
    const hold = async () => {
      while (!signal.aborted) {
        note(await holdResponse(target, query, signal))
        await delay(comesBackMs)
      }
    }
    await Promise.all(Array.from({ length: sockets }, hold))
  }

const holdResponse = async ({ origin, apiKey, forms }: Target, query: string, signal: AbortSignal) => {
  const { hostname, port } = new URL(origin)
  const socket = connect(Number(port), hostname)
  const closed = once(socket, 'close').then(() => cutOff)
  socket.on('error', () => {})
  try {
    socket.write(`GET ${forms}${query} HTTP/1.1\r\nhost: x\r\nx-api-key: ${apiKey}\r\n\r\n`)
    const head = await headOf(socket, signal)
    if (head === undefined) return signal.aborted ? hungUp : 'lost: no response'
    const outcome = outcomeOf(Number(head.slice(9, 12)), head)
    if (outcome !== '200') return outcome
    await delay(holdMs, undefined, { signal })
    const whole = endOfResponse(socket).then(() => '200')
    return await Promise.race([closed, whole, delay(endsWithinMs, 'not cut off')])
  } catch {
    return hungUp
  } finally {
    socket.destroy()
  }
}

/** What came first of the response; undefined where the connection ended before. Reads no further. */
const headOf = async (socket: Socket, signal: AbortSignal): Promise<string | undefined> => {
  const first = Promise.withResolvers<string | undefined>()
  const stop = () => first.resolve(undefined)
  signal.addEventListener('abort', stop)
  socket.once('data', (chunk) => {
    socket.pause()
    first.resolve(chunk.toString())
  })
  socket.once('close', stop)
  const head = await first.promise
  signal.removeEventListener('abort', stop)
  return head
}

/** Reads on. Resolves at the last chunk of the response, which the network may have taken long ago. */
const endOfResponse = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    let tail = ''
    socket.on('data', (chunk) => {
      tail = (tail + chunk.toString('latin1')).slice(-lastChunk.length)
      if (tail === lastChunk) resolve()
    })
    socket.resume()
  })

const lastChunk = '\r\n0\r\n\r\n'

/** Together: the longest filter that v2 takes, and each condition looks at every position of every name. */
const costlyFilter = Array<string>(119).fill('name="*a*Nz"').join(' OR ')
/** As many conditions that need the text as are allowed, and none that is true. */
const allowedFilter = Array.from({ length: 10 }, (_, index) => `name="*a*N${index}"`).join(' OR ')

const list = (filter: string, orderBy = ''): ((target: Target) => Sent) => {
  const query = new URLSearchParams({ filter, ...(orderBy && { orderBy }) })
  return ({ forms }) => ({ path: `${forms}?${query}` })
}

const patchLargeForm = ({ forms, largeForm }: Target): Sent => ({
  method: 'PATCH',
  path: `${forms}/${largeForm}`,
  body: JSON.stringify({ form: { tone: `${Math.random()}` } }),
})

const together =
  (...attacks: Attack[]): Attack =>
  async (...args) => {
    await Promise.all(attacks.map((attack) => attack(...args)))
  }

/** What one caller can do inside the default limits. Each runs until its signal. */
export const attacks = {
  'lists with 119 wildcards': together(
    repeat(2, list(costlyFilter)),
    repeat(48, (target) => ({ ...list(costlyFilter)(target), hangUpAfterMs: 400 })),
  ),
  'lists with the costliest filter that is allowed': together(
    repeat(8, list(allowedFilter, 'replyCount desc,name')),
    repeat(8, (target) => ({ ...list(allowedFilter)(target), hangUpAfterMs: 400 })),
  ),
  'responses that nobody reads': unread(135, '?pageSize=9'),
  'revisions of 440 KB': repeat(1, ({ forms, revisedForm }) => ({
    path: `${forms}/${revisedForm}/revisions?pageSize=1000`,
  })),
  'large pages': together(
    repeat(64, ({ forms }) => ({ path: `${forms}?pageSize=1000` })),
    unread(40, '?pageSize=1000'),
  ),
  'patches of a 440 KB form': repeat(32, patchLargeForm),
  'a megabyte of brackets': repeat(8, ({ forms, largeForm }) => ({
    method: 'POST',
    path: `${forms}/${largeForm}/publish`,
    body: '['.repeat(2 ** 20),
  })),
} satisfies Record<string, Attack>
export type AttackName = keyof typeof attacks
