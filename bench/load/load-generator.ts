import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { LoadTarget, Operation } from './requests.ts'

/** How long a load lasts, or how many requests it has. */
export type Amount = { seconds: number } | { amount: number }

/** HTTP requests. Each connection has one request in flight at a time. */
export interface HttpLoad {
  kind: 'http'
  operation: Operation
  target: LoadTarget
  connections: number
  /** Total over all connections. Default: as many as the server handles. */
  requestsPerSecond?: number
}

/** Messages to a work queue, each of which waits for its reply. */
export interface RoundTripLoad {
  kind: 'round trips'
  natsUrl: string
  inFlight: number
}

/** Changes at a steady rate, and how long after each response its event is in the stream. */
export interface EventsLoad {
  kind: 'events'
  target: LoadTarget
  /** NATS as the user `events`. */
  natsUrl: string
  changesPerSecond: number
  connections: number
}

export type Load = HttpLoad | RoundTripLoad | EventsLoad

export interface LoadResult {
  requests: number
  /** Duration of the whole load. */
  seconds: number
  /** Response time in milliseconds. */
  p50: number
  p99: number
  /** Responses with another status than the expected one, broken connections and timeouts. */
  failures: number
}

export interface LoadGenerator extends AsyncDisposable {
  run(load: Load & Amount): Promise<LoadResult>
}

/** Starts the load generator as a separate process, so that its CPU time counts for no side. */
export const startLoadGenerator = (): LoadGenerator => {
  const child = fork(join(import.meta.dirname, '../programs/generate-load.ts'))
  return {
    async run(load) {
      child.send(load)
      const [result] = (await once(child, 'message', { signal: exitSignalOf(child) })) as [
        LoadResult | { error: string },
      ]
      if ('error' in result) throw new Error(`the load generator failed: ${result.error}`)
      return result
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null) {
        child.disconnect()
        await once(child, 'exit')
      }
    },
  }
}

const exitSignals = new WeakMap<ChildProcess, AbortSignal>()

/** Aborted when the process exits, so that no caller waits for its message indefinitely. */
const exitSignalOf = (child: ChildProcess): AbortSignal => {
  const known = exitSignals.get(child)
  if (known) return known
  const exited = new AbortController()
  child.once('exit', () => exited.abort(new Error('the load generator exited')))
  exitSignals.set(child, exited.signal)
  return exited.signal
}
