import { Agent, request as httpRequest } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** What an attack is directed at, and its API key. */
export interface Target {
  /** `http://127.0.0.1:port` of the gateway. */
  origin: string
  apiKey: string
  /** Path of the attacked organization's forms, including `/v2`. */
  forms: string
  /** Public id of a form with many revisions. */
  revisedForm: string
  /** Public id of a form of 440 KB. */
  largeForm: string
  /** Public ids of forms of 700 KB. */
  bigForms: readonly string[]
}

/** Sends requests until `signal` is aborted. Calls `record` with the outcome of each, such as `400 FILTER_TOO_COMPLEX`. */
export type Attack = (target: Target, signal: AbortSignal, record: (outcome: string) => void) => Promise<void>

/** Outcome of a request that the attacker aborted. */
export const aborted = 'aborted by the attacker'
/** Outcome of a request whose connection the service closed because the attacker did not read. */
export const closedByService = 'closed by the service'

interface AttackRequest {
  method?: string
  path: string
  body?: string
  /** Time after which the attacker aborts the request, in milliseconds. */
  abortAfterMs?: number
}

/** Pause after a failed request, in milliseconds. */
const retryDelayMs = 100

const agent = new Agent({ keepAlive: true })

/** Sends one request and reads its response. */
const send = (
  { origin, apiKey }: Target,
  { method = 'GET', path, body, abortAfterMs }: AttackRequest,
  signal: AbortSignal,
): Promise<string> =>
  new Promise((resolve) => {
    const signals = [signal, ...(abortAfterMs ? [AbortSignal.timeout(abortAfterMs)] : [])]
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
    const fail = (error: Error) =>
      resolve(error.name === 'AbortError' ? aborted : `broken connection: ${error.message}`)
    request.once('error', fail)
    request.once('response', (response) => {
      let head = ''
      response.on('data', (chunk: Buffer) => {
        head ||= chunk.toString()
      })
      response.once('error', fail)
      response.once('end', () => resolve(outcomeOf(response.statusCode!, head)))
    })
    request.end(body)
  })

/** The outcome of a response, such as `200` or `400 FILTER_TOO_COMPLEX`. */
export const outcomeOf = (status: number, text: string): string => {
  const reason = /"reason":"(\w+)"/.exec(text)?.[1]
  return status < 300 ? `${status}` : `${status} ${reason ?? 'without a reason'}`
}

/** An attack of `callers` clients, each of which sends one request at a time. */
const repeat =
  (callers: number, requestOf: (target: Target) => AttackRequest): Attack =>
  async (target, signal, record) => {
    const caller = async () => {
      while (!signal.aborted) {
        const outcome = await send(target, requestOf(target), signal)
        record(outcome)
        if (!outcome.startsWith('2')) await delay(retryDelayMs)
      }
    }
    await Promise.all(Array.from({ length: callers }, caller))
  }

/** How long an attacker stops reading, in milliseconds: more than the service's timeout of 10 s without a byte. */
const holdMs = 12_000

/** Time for the close of a connection to become visible when the attacker reads again, in milliseconds. */
const closeTimeoutMs = 3_000

/** An attack of `sockets` connections that read only the head of a response. Each is reopened after its outcome. */
const unread =
  (sockets: number, query: string): Attack =>
  async (target, signal, record) => {
    const hold = async () => {
      while (!signal.aborted) {
        record(await holdResponse(target, query, signal))
        await delay(retryDelayMs)
      }
    }
    await Promise.all(Array.from({ length: sockets }, hold))
  }

const holdResponse = async ({ origin, apiKey, forms }: Target, query: string, signal: AbortSignal) => {
  const { hostname, port } = new URL(origin)
  const socket = connect(Number(port), hostname)
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(closedByService)))
  socket.on('error', () => {})
  try {
    socket.write(`GET ${forms}${query} HTTP/1.1\r\nhost: x\r\nx-api-key: ${apiKey}\r\n\r\n`)
    const head = await headOf(socket, signal)
    if (head === undefined) return signal.aborted ? aborted : 'broken connection: no response'
    const outcome = outcomeOf(Number(head.slice(9, 12)), head)
    if (outcome !== '200') return outcome
    await delay(holdMs, undefined, { signal })
    const whole = endOfResponse(socket).then(() => '200')
    return await Promise.race([closed, whole, delay(closeTimeoutMs, 'not closed by the service')])
  } catch {
    return aborted
  } finally {
    socket.destroy()
  }
}

/** Reads the first chunk of the response, then pauses. @returns undefined when the connection ended before. */
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

/** Resumes reading. Resolves at the end of the response, which may be in socket buffers already. */
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

/** The longest filter that v2 accepts. Each condition scans every position of every name. */
const expensiveFilter = Array<string>(119).fill('name="*a*Nz"').join(' OR ')
/** The maximum number of conditions that scan names, none of which matches. */
const allowedFilter = Array.from({ length: 10 }, (_, index) => `name="*a*N${index}"`).join(' OR ')

const list = (filter: string, orderBy = ''): ((target: Target) => AttackRequest) => {
  const query = new URLSearchParams({ filter, ...(orderBy && { orderBy }) })
  return ({ forms }) => ({ path: `${forms}?${query}` })
}

const patchLargeForm = ({ forms, largeForm }: Target): AttackRequest => ({
  method: 'PATCH',
  path: `${forms}/${largeForm}`,
  body: JSON.stringify({ form: { tone: `${Math.random()}` } }),
})

/** Types that no event has. Each condition scans the type of each event. */
const eventsFilter = Array.from({ length: 10 }, (_, index) => `type="*o*m*${index}"`).join(' OR ')

const events =
  (rest: string, abortAfterMs?: number): ((target: Target) => AttackRequest) =>
  ({ forms }) => ({
    path: `${forms.replace(/forms$/, 'events')}${rest}`,
    ...(abortAfterMs !== undefined && { abortAfterMs }),
  })

const combine =
  (...attacks: Attack[]): Attack =>
  async (...args) => {
    await Promise.all(attacks.map((attack) => attack(...args)))
  }

const mebibyte = 2 ** 20

/** A body of 1 MiB whose members are expensive to scan, and one of 90,000 members. */
const largeBodies = [
  `{"form":{"steps":[${'[],'.repeat(mebibyte / 3 - 10)}[]]}}`,
  JSON.stringify({ form: Object.fromEntries(Array.from({ length: 90_000 }, (_, n) => [`m${n}`, 1])) }),
]

/** A form of 440 KB that is checked and not created. */
const largeForm = {
  form: { name: 'Large', steps: [{ type: 'choice', key: 'q', options: Array(50_000).fill('abcdef') }] },
}
const largeDryCreate = JSON.stringify({ validateOnly: true, ...largeForm })
const largeCheck = JSON.stringify(largeForm)

/** Deletes forms and restores them, each caller one of its own. */
const deleteAndRestore: Attack = async (target, signal, record) => {
  const { forms, bigForms } = target
  const caller = async (form: string) => {
    while (!signal.aborted) {
      record(await send(target, { method: 'DELETE', path: `${forms}/${form}` }, signal))
      const path = `${forms.replace(/forms$/, 'deletedForms')}/${form}/undelete`
      record(await send(target, { method: 'POST', path, body: '{}' }, signal))
    }
  }
  await Promise.all(bigForms.slice(0, 8).map(caller))
}

/** Pipelines publishes on a connection, and resets it before they are done. */
const abandonPublishes: Attack = async ({ origin, apiKey, forms, largeForm }, signal, record) => {
  const { hostname, port } = new URL(origin)
  const publish =
    `POST ${forms}/${largeForm}/publish HTTP/1.1\r\nhost: x\r\nx-api-key: ${apiKey}\r\n` +
    'content-type: application/json\r\ncontent-length: 2\r\n\r\n{}'
  const caller = async () => {
    while (!signal.aborted) {
      const socket = connect(Number(port), hostname)
      socket.on('error', () => {})
      socket.write(publish.repeat(16))
      await delay(100)
      socket.resetAndDestroy()
      record(aborted)
    }
  }
  await Promise.all([caller(), caller()])
}

/** What one caller can do within the default limits. */
export const attacks = {
  'lists with 119 wildcards': combine(
    repeat(2, list(expensiveFilter)),
    repeat(48, (target) => ({ ...list(expensiveFilter)(target), abortAfterMs: 400 })),
  ),
  'lists with the most expensive allowed filter': combine(
    repeat(8, list(allowedFilter, 'replyCount desc,name')),
    repeat(8, (target) => ({ ...list(allowedFilter)(target), abortAfterMs: 400 })),
  ),
  'unread responses': unread(135, '?pageSize=9'),
  'revisions of 440 KB': repeat(1, ({ forms, revisedForm }) => ({
    path: `${forms}/${revisedForm}/revisions?pageSize=1000`,
  })),
  'large pages': combine(
    repeat(64, ({ forms }) => ({ path: `${forms}?pageSize=1000` })),
    unread(40, '?pageSize=1000'),
  ),
  'long pages without drafts': combine(
    repeat(32, ({ forms }) => ({ path: `${forms}?pageSize=1000&readMask=name,live` })),
    repeat(32, ({ forms }) => ({ path: `${forms.replace(/forms$/, 'deletedForms')}?pageSize=1000` })),
  ),
  'large pages that are cut to a mask': repeat(32, ({ forms }) => ({
    path: `${forms}?pageSize=1000&readMask=steps,theme`,
  })),
  'masked reads of a 440 KB form': repeat(60, ({ forms, revisedForm }) => ({
    path: `${forms}/${revisedForm}/revisions/live?readMask=form.updateTime`,
  })),
  'reads of a 700 KB form': repeat(60, ({ forms, bigForms }) => ({ path: `${forms}/${bigForms[0]}` })),
  'scans of the event log': combine(
    repeat(48, events(`?${new URLSearchParams({ filter: eventsFilter })}`)),
    repeat(2, events('?pageSize=1000')),
    repeat(8, events(`/stream?${new URLSearchParams({ afterSequence: '0', filter: eventsFilter })}`, 1_000)),
    repeat(4, events('/stream?afterSequence=0', 300)),
  ),
  'patches of a 440 KB form': combine(
    repeat(16, patchLargeForm),
    // Their responses are short.
    repeat(16, ({ forms, largeForm }) => ({
      method: 'PATCH',
      path: `${forms}/${largeForm}`,
      body: '{"validateOnly":true,"form":{"steps":[]}}',
    })),
  ),
  'comparisons of a 440 KB form': repeat(32, ({ forms, revisedForm }) => ({
    path: `${forms}/${revisedForm}/changes`,
  })),
  'checks of a 440 KB form': repeat(32, ({ forms }) => ({
    method: 'POST',
    path: `${forms}/check`,
    body: largeCheck,
  })),
  'rollbacks of a 440 KB form': combine(
    repeat(4, ({ forms, revisedForm }) => ({
      method: 'PATCH',
      path: `${forms}/${revisedForm}`,
      body: JSON.stringify({ form: { tone: `${Math.random()}` } }),
    })),
    repeat(28, ({ forms, revisedForm }) => ({
      method: 'POST',
      path: `${forms}/${revisedForm}/revisions/live/rollback`,
    })),
  ),
  'publishes that compare a 440 KB form': repeat(8, ({ forms, revisedForm }) => ({
    method: 'POST',
    path: `${forms}/${revisedForm}/publish`,
    body: '{"refuseBreaking":true,"validateOnly":true}',
  })),
  'dry publishes of a 440 KB form': repeat(24, ({ forms, largeForm }) => ({
    method: 'POST',
    path: `${forms}/${largeForm}/publish`,
    body: '{"validateOnly":true}',
  })),
  'publishes whose connections are reset': abandonPublishes,
  'deletes and undeletes of 700 KB forms': deleteAndRestore,
  'large dry creates': repeat(32, ({ forms }) => ({ method: 'POST', path: forms, body: largeDryCreate })),
  'keys and wrong login codes': combine(
    repeat(32, () => ({ method: 'POST', path: '/v2/keys', body: '{"key":{"name":"many"}}' })),
    repeat(32, () => ({
      method: 'POST',
      path: '/v2/sessions',
      body: JSON.stringify({ code: `${Math.random()}` }),
    })),
  ),
  'a megabyte of JSON where no form is sent': combine(
    ...['/v2/keys', '/publish', '/unpublish'].map((path) =>
      repeat(8, ({ forms, largeForm }) => ({
        method: 'POST',
        path: path.startsWith('/v2') ? path : `${forms}/${largeForm}${path}`,
        body: largeBodies[0]!,
      })),
    ),
  ),
  'a megabyte of members in creates': combine(
    ...largeBodies.map((body) => repeat(32, ({ forms }) => ({ method: 'POST', path: forms, body }))),
  ),
} satisfies Record<string, Attack>
export type AttackName = keyof typeof attacks
