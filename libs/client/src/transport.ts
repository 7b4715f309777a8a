import { FormsApiError, FormsConnectionError } from './errors.ts'
import { outcomeOf, pauseMs } from './repeat.ts'

/** Sends one request: the platform's own, or a function round it that logs, traces or counts. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface ClientOptions {
  /** Where the API is, the version included: `https://forms.example.com/v2`. In a browser it may be relative. */
  baseUrl: string
  /** `fms_` and 43 characters. */
  apiKey: string
  /** Default: the platform's. */
  fetch?: Fetch
  /** How often a request that failed is sent again where that is safe; default 4, and 0 turns it off. */
  maxRetries?: number
  /** Ends every request of this client, and every wait between two. */
  signal?: AbortSignal
}

/** What every call takes. */
export interface CallOptions {
  /** Ends the call, the waits between its requests included; `AbortSignal.timeout(ms)` sets a deadline. */
  signal?: AbortSignal | undefined
}

/** What tests replace. */
export interface Clock {
  /** Waits, unless the signal aborts: then it throws the signal's reason. */
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void>
  /** 0 to 1. */
  random(): number
}

export interface Call extends CallOptions {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  path: string
  query?: Record<string, string | number | boolean | undefined>
  body?: object
  ifMatch?: string | undefined
  /** Twice would do twice the work: sent again only when the first one is known not to have been carried out. */
  onlyOnce?: boolean
  /** What a refusal means after a sending that may have been carried out; its answer is the call's. */
  refusedAfterDoubt?(refusal: unknown, doubt: unknown): unknown
}

export interface Answer<T> {
  body: T
  /** `""` when there is none, or a browser hides it from a page of another origin. */
  etag: string
}

export interface Transport {
  /** @throws {FormsApiError | FormsConnectionError} and the reason of a signal that aborted. */
  send<T>(call: Call): Promise<Answer<T>>
  /** Waits for as long as after this many failures. */
  pause(failures: number, signal: AbortSignal | undefined): Promise<void>
}

export const createTransport = (options: ClientOptions, { sleep, random }: Clock): Transport => {
  const { apiKey, maxRetries = 4, fetch = (url, init) => globalThis.fetch(url, init) } = options
  const baseUrl = options.baseUrl.replace(/\/+$/, '')
  // An address or a key that no request can carry is told at once.
  new Request(baseUrl, { headers: { 'x-api-key': apiKey } })

  const sendOnce = async (call: Call, signal: AbortSignal | undefined) => {
    const { response, text } = await exchange(fetch, `${baseUrl}${call.path}${queryOf(call)}`, {
      method: call.method,
      headers: headersOf(call, apiKey),
      // A key must not follow a redirect to another host, nor a POST become a GET.
      redirect: 'manual',
      ...(call.body && { body: JSON.stringify(call.body) }),
      ...(signal && { signal }),
    })
    const body = response.ok ? parsed(text) : undefined
    if (body === undefined) throw new FormsApiError(response, text)
    return { body, etag: response.headers.get('etag') ?? '' }
  }

  const send = async (call: Call) => {
    const signal = eitherOf(options.signal, call.signal)
    let doubt: unknown
    for (let failures = 0; ; failures++) {
      signal?.throwIfAborted()
      try {
        return await sendOnce(call, signal)
      } catch (error) {
        signal?.throwIfAborted()
        const outcome = outcomeOf(error)
        if (outcome === 'refused') return refused(call, error, doubt)
        if (outcome === 'unknown' && call.method !== 'GET') doubt = error
        const ms = pauseMs(failures, random(), error instanceof FormsApiError ? error.retryAfterSeconds : 0)
        const isSafe = outcome === 'notDone' || !call.onlyOnce
        if (!isSafe || failures >= maxRetries || ms === undefined) throw doubt ?? error
        await sleep(ms, signal)
      }
    }
  }

  return {
    send: send as Transport['send'],
    pause: (failures, signal) => sleep(pauseMs(failures, random())!, eitherOf(options.signal, signal)),
  }
}

/** A body that breaks off is no answer either. */
const exchange = async (fetch: Fetch, url: string, init: RequestInit) => {
  try {
    const response = await fetch(url, init)
    return { response, text: await response.text() }
  } catch (cause) {
    throw new FormsConnectionError(`No answer to ${init.method} ${url}: ${messageOf(cause)}`, { cause })
  }
}

/** `fetch failed` alone helps nobody. */
const messageOf = (cause: unknown): string =>
  cause instanceof Error
    ? (cause.cause ? messageOf(cause.cause) : cause.message) || cause.name
    : String(cause)

const refused = (call: Call, refusal: unknown, doubt: unknown) => {
  if (doubt === undefined || !call.refusedAfterDoubt) throw refusal
  return { body: call.refusedAfterDoubt(refusal, doubt), etag: '' }
}

const headersOf = ({ body, ifMatch }: Call, apiKey: string): Record<string, string> => ({
  'x-api-key': apiKey,
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

const eitherOf = (...signals: (AbortSignal | undefined)[]): AbortSignal | undefined => {
  const given = signals.filter((signal) => signal !== undefined)
  return given.length > 1 ? AbortSignal.any(given) : given[0]
}
