import { storeUnavailable } from '../errors.ts'

/**
 * Time limits of requests to MongoDB, in milliseconds. Each one is longer than those that it includes, so that the most
 * precise error arrives first. The gateway waits 6,000 ms for a response.
 */

/** To select a server, to connect, and to get a pooled connection, each. Callers get a 503 after it. */
export const selectionTimeoutMs = 2_000

/** How long a write waits for the journals of a majority (`wtimeout`). The write itself is not included. */
export const majorityTimeoutMs = 4_500

/** How long the engine may work on a request (`maxTimeMS`), unless the caller sets another limit. */
export const engineTimeoutMs = 5_000

/** What a request may take beyond the engine's limit: selection, connection, the driver's retries. */
const overheadMs = 800

/** How long a caller waits for a request, even if the driver continues with it. */
export const requestTimeoutMs = (engineMs: number): number => engineMs + overheadMs

/** How long a socket with a request in progress may be idle. @param engineMs the longest limit of a request. */
export const socketTimeoutMs = (engineMs: number): number =>
  Math.max(10_000, requestTimeoutMs(engineMs) + overheadMs)

const timeoutAdvice = 'MongoDB does not respond in time. Check the network, and the load of its machine.'

/** Stops waiting for a request, which the driver ends at its own limits. @throws {ApiError} STORE_UNAVAILABLE */
export const withTimeLimit = async <T>(pending: Promise<T>, timeoutMs: number): Promise<T> => {
  const expired = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    const cause = new Error(`MongoDB has not responded within ${timeoutMs} ms`)
    expired.reject(storeUnavailable(cause, timeoutAdvice))
  }, timeoutMs)
  try {
    return await Promise.race([pending, expired.promise])
  } finally {
    clearTimeout(timer)
  }
}
