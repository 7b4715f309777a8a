import { Agent, request as httpRequest } from 'node:http'
import { text as readWhole } from 'node:stream/consumers'
import { outcomeOf } from './attacks.ts'

/** The outcomes of the victim's requests. */
export interface VictimObservations {
  /** Response times of successful gets in milliseconds, in the order of the responses. */
  times: number[]
  patchTimes: number[]
  publishTimes: number[]
  /** Method and outcome of each failed request. */
  failures: string[]
}

/** A caller with a low request rate. */
export interface Victim {
  /** Waits for the requests in flight. @returns the outcomes since the last call. */
  takeObservations(): Promise<VictimObservations>
  /** Stops sending requests. */
  stop(): void
}

const getEveryMs = 50
const patchEveryMs = 500
const publishEveryMs = 2_000
const timeoutMs = 10_000

/**
 * Gets a small form every 50 ms, patches it every 500 ms, each time over a new connection, and publishes it every 2 s, without
 * waiting for earlier responses.
 */
export const startVictim = ({ url, apiKey }: { url: string; apiKey: string }): Victim => {
  const agent = new Agent({ keepAlive: true })
  const inFlight = new Set<Promise<void>>()
  const none = (): VictimObservations => ({ times: [], patchTimes: [], publishTimes: [], failures: [] })
  let current = none()

  const send = (method: 'GET' | 'PATCH' | 'POST', body?: string) => {
    const { failures, ...of } = current
    const times = { GET: of.times, PATCH: of.patchTimes, POST: of.publishTimes }[method]
    const startedAt = performance.now()
    const ended = sendOnce(
      method === 'POST' ? `${url}/publish` : url,
      { method, agent: method !== 'PATCH' && agent, headers: headersOf(apiKey, body) },
      body,
    )
      .then((outcome) => {
        if (outcome === '200') times.push(performance.now() - startedAt)
        else failures.push(`${method} ${outcome}`)
      })
      .catch((error: Error) => void failures.push(`${method} ${error.message}`))
      .finally(() => inFlight.delete(ended))
    inFlight.add(ended)
  }
  const gets = setInterval(() => send('GET'), getEveryMs)
  const patches = setInterval(
    () => send('PATCH', JSON.stringify({ form: { description: `${Math.random()}` } })),
    patchEveryMs,
  )
  const publishes = setInterval(() => send('POST', '{}'), publishEveryMs)
  send('PATCH', JSON.stringify({ form: {} }))
  return {
    async takeObservations() {
      const taken = current
      const waiting = [...inFlight]
      current = none()
      await Promise.all(waiting)
      return taken
    },
    stop() {
      clearInterval(gets)
      clearInterval(patches)
      clearInterval(publishes)
      agent.destroy()
    },
  }
}

const headersOf = (apiKey: string, body?: string) => ({
  'x-api-key': apiKey,
  ...(body !== undefined && {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  }),
})

const sendOnce = (url: string, options: object, body?: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(timeoutMs)
    const request = httpRequest(url, { ...options, signal })
    request.once('error', (error) => reject(signal.aborted ? new Error('no response in 10 s') : error))
    request.once('response', (response) => {
      readWhole(response).then((text) => resolve(outcomeOf(response.statusCode!, text)), reject)
    })
    request.end(body)
  })

/** The percentile `p` (0 to 1) of `times`; infinite when there are none. */
export const percentile = (times: readonly number[], p: number): number => {
  const sorted = times.toSorted((one, other) => one - other)
  return sorted[Math.max(0, Math.ceil(sorted.length * p) - 1)] ?? Number.POSITIVE_INFINITY
}

/** The p99 of the victim: the median over three windows, so that one pause of a shared machine is no breach. */
export const p99Of = (times: readonly number[]): number => {
  const size = Math.max(1, Math.ceil(times.length / 3))
  const windows = [0, 1, 2].map((window) => times.slice(window * size, (window + 1) * size))
  return percentile(
    windows.map((window) => percentile(window, 0.99)),
    0.5,
  )
}
