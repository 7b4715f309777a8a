import { FormsApiError, FormsConnectionError } from '../errors.ts'
import { receiveEventStream, type ServerSentEvent } from '../events/event-stream.ts'
import { checkBaseUrl, foreignPageOrigin } from './options.ts'
import { type Clock, longestRetryAfterSeconds, outcomeOf, pauseMs, systemClock } from './repeat.ts'

/** Sends one request. Compatible with the `fetch` of the platform; a wrapper can log, trace or count requests. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface ClientOptions {
  /** Base URL of the API with its version: `https://forms.example.com/v2`. In a browser it may be relative. */
  baseUrl: string
  /** `fms_` and 43 characters. */
  apiKey: string
  /** Default: the `fetch` of the platform. */
  fetch?: Fetch
  /** Maximum number of retries where they are safe; default 4, 0 for none. */
  maxRetries?: number
  /** Aborts all requests of this client, and the delays before retries. */
  signal?: AbortSignal
}

export interface CallOptions {
  /** Aborts the call, including delays before retries. `AbortSignal.timeout(ms)` sets a timeout. */
  signal?: AbortSignal | undefined
}

export interface Call extends CallOptions {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  path: string
  query?: Record<string, string | number | boolean | undefined>
  body?: object
  ifMatch?: string | undefined
  /** Whether repeats have the effect of one (RFC 9110 §9.2.2); default true. Else only what was not executed is retried. */
  isIdempotent?: boolean
  /** Whether this rejection of a retry means that an earlier attempt has succeeded. The call then succeeds with `{}`. */
  isDoneBefore?(rejection: unknown): boolean
  /** Whether this rejection of a retry leaves open what an earlier attempt did, whose error the call then throws. */
  isUndecidedBy?(rejection: unknown): boolean
}

export interface ApiResponse<T> {
  body: T
  /** `""` without the header, also if a browser hides it from a page of another origin. */
  etag: string
}

export interface Transport {
  /** @throws {FormsApiError | FormsConnectionError} or the reason of an aborted signal. */
  send<T>(call: Call): Promise<ApiResponse<T>>
  /** Opens an event stream once. @throws {FormsApiError | FormsConnectionError} or the reason of an aborted signal. */
  stream(call: Call): AsyncIterable<ServerSentEvent>
  /**
   * Waits for the delay after this many failures.
   *
   * @param isPatient waits a minute where `Retry-After` is longer; by default, throws the error.
   */
  pause(
    failures: number,
    signal: AbortSignal | undefined,
    error?: unknown,
    isPatient?: boolean,
  ): Promise<void>
  maxRetries: number
}

/** The options of a transport. Without `apiKey`, requests have no key. */
export type TransportOptions = Omit<ClientOptions, 'apiKey'> & Partial<Pick<ClientOptions, 'apiKey'>>

/** Creates a transport. @throws {TypeError} for a missing or malformed `baseUrl`. */
export const createTransport = (
  options: TransportOptions,
  { sleep, random }: Clock = systemClock,
): Transport => {
  const { apiKey, maxRetries = 4, fetch = (url, init) => globalThis.fetch(url, init) } = options
  const baseUrl = checkBaseUrl(options.baseUrl)

  const urlOf = (call: Call) => `${baseUrl}${call.path}${queryOf(call)}`

  let hasResponded = false

  /** @throws {TypeError | URIError} for what no request can have: a mistake of the caller, not a lost connection. */
  const requestOf = (call: Call, headers: Record<string, string> = {}) => {
    const init = {
      method: call.method,
      headers: { ...headersOf(call, apiKey), ...headers },
      // A redirect would send the key to another host, and turn a POST into a GET.
      redirect: 'manual' as const,
      ...(call.body && { body: JSON.stringify(call.body) }),
    }
    // Throws for a malformed value, which `fetch` would report as it reports a lost connection.
    new Headers(init.headers)
    return { url: urlOf(call), init }
  }
  type Prepared = ReturnType<typeof requestOf>

  const request = async ({ url, init }: Prepared, signal: AbortSignal | undefined) => {
    const response = await fetch(url, { ...init, ...(signal && { signal }) })
    hasResponded = true
    return response
  }

  const connectionError = (call: Call, cause: unknown) => {
    // A browser reports a response that it blocks, and a service that is down, as the same TypeError.
    const mayBeBlocked = !hasResponded && cause instanceof TypeError ? foreignPageOrigin(baseUrl) : undefined
    const hint = mayBeBlocked ? `. The operator may have to add ${mayBeBlocked} to CORS_ORIGINS` : ''
    return new FormsConnectionError(
      `No response to ${call.method} ${urlOf(call)}: ${messageOf(cause)}${hint}`,
      { cause, mayBeBlocked: mayBeBlocked !== undefined },
    )
  }

  /** Sends a request and reads the response body. An incomplete body is a connection error, too. */
  const exchange = async (call: Call, prepared: Prepared, signal: AbortSignal | undefined) => {
    try {
      const response = await request(prepared, signal)
      return { response, text: await response.text() }
    } catch (cause) {
      throw connectionError(call, cause)
    }
  }

  const sendOnce = async (call: Call, prepared: Prepared, signal: AbortSignal | undefined) => {
    const { response, text } = await exchange(call, prepared, signal)
    const body = response.ok ? parsed(text) : undefined
    if (typeof body !== 'object' || body === null) throw new FormsApiError(response, text)
    return { body, etag: response.headers.get('etag') ?? '' }
  }

  const send = async (call: Call) => {
    const signal = anySignalOf(options.signal, call.signal)
    const prepared = requestOf(call)
    let unknownOutcome: unknown
    for (let failures = 0; ; failures++) {
      signal?.throwIfAborted()
      try {
        return await sendOnce(call, prepared, signal)
      } catch (error) {
        signal?.throwIfAborted()
        const outcome = outcomeOf(error)
        if (outcome === 'rejected') return rejected(call, error, unknownOutcome)
        if (outcome === 'unknown' && call.method !== 'GET') unknownOutcome = error
        const ms = pauseMs(failures, random(), retryAfterOf(error))
        const isSafe = outcome === 'notExecuted' || (call.isIdempotent ?? true)
        if (!isSafe || failures >= maxRetries || ms === undefined) throw unknownOutcome ?? error
        await sleep(ms, signal)
      }
    }
  }

  async function* stream(call: Call) {
    const signal = anySignalOf(options.signal, call.signal)
    signal?.throwIfAborted()
    const prepared = requestOf(call, { accept: 'text/event-stream' })
    try {
      yield* receiveEventStream((either) => request(prepared, either), signal)
    } catch (cause) {
      signal?.throwIfAborted()
      throw cause instanceof FormsApiError ? cause : connectionError(call, cause)
    }
  }

  const pause: Transport['pause'] = async (failures, signal, error, isPatient) => {
    const ms = pauseMs(failures, random(), retryAfterOf(error))
    if (ms === undefined && !isPatient) throw error
    await sleep(ms ?? longestRetryAfterSeconds * 1_000, anySignalOf(options.signal, signal))
  }

  return { send: send as Transport['send'], stream, pause, maxRetries }
}

const retryAfterOf = (error: unknown): number | undefined =>
  error instanceof FormsApiError ? error.retryAfterSeconds : undefined

/** The message of the innermost cause: that of `fetch` is only `fetch failed`. */
const messageOf = (cause: unknown): string =>
  cause instanceof Error
    ? (cause.cause ? messageOf(cause.cause) : cause.message) || cause.name
    : String(cause)

/** The result of a call that the API rejects, maybe after an attempt with an unknown outcome. */
const rejected = (call: Call, rejection: unknown, unknownOutcome: unknown) => {
  if (unknownOutcome === undefined) throw rejection
  if (call.isDoneBefore?.(rejection)) return { body: {}, etag: '' }
  throw call.isUndecidedBy?.(rejection) ? unknownOutcome : rejection
}

const headersOf = ({ body, ifMatch }: Call, apiKey: string | undefined): Record<string, string> => ({
  ...(apiKey !== undefined && { 'x-api-key': apiKey }),
  ...(body && { 'content-type': 'application/json' }),
  ...(ifMatch !== undefined && { 'if-match': ifMatch }),
})

const queryOf = ({ query = {} }: Call): string => {
  const parts = Object.entries(query).filter(([, value]) => value !== undefined)
  return parts.length === 0
    ? ''
    : `?${parts.map(([name, value]) => `${name}=${encodeURIComponent(value!)}`).join('&')}`
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const anySignalOf = (...signals: (AbortSignal | undefined)[]): AbortSignal | undefined => {
  const given = signals.filter((signal) => signal !== undefined)
  return given.length > 1 ? AbortSignal.any(given) : given[0]
}
