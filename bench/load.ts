import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Operation, Place } from './requests.ts'

interface Duration {
  seconds: number
}

/** Requests over HTTP, each connection with one under way at a time. */
export interface HttpLoad {
  kind: 'http'
  operation: Operation
  place: Place
  connections: number
  /** All connections together; without it, as many as they can. */
  requestsPerSecond?: number
}

/** Messages to a work queue and back. */
export interface RoundTripLoad {
  kind: 'round trips'
  natsUrl: string
  inFlight: number
}

export type Load = HttpLoad | RoundTripLoad

export interface LoadResult {
  requests: number
  /** How long they took together. */
  seconds: number
  /** Of one request, in milliseconds. */
  p50: number
  p99: number
  /** Answers of another status than the operation has, lost connections, timeouts. */
  failures: number
  /** Answers 429 and 503 among them. */
  refused: number
}

export interface LoadGenerator extends AsyncDisposable {
  run(load: Load & Duration): Promise<LoadResult>
}

/** A process of its own, so that what it burns counts for no side. */
export const startLoadGenerator = (): LoadGenerator => {
  const child = fork(join(import.meta.dirname, 'programs/load-generator.ts'))
  return {
    async run(load) {
      child.send(load)
      const [answer] = (await once(child, 'message', { signal: endOf(child) })) as [
        LoadResult | { error: string },
      ]
      if ('error' in answer) throw new Error(`the load generator: ${answer.error}`)
      return answer
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null) {
        child.disconnect()
        await once(child, 'exit')
      }
    },
  }
}

const ends = new WeakMap<ChildProcess, AbortSignal>()

/** Aborted when the process is gone, so that nobody waits for it in vain. */
const endOf = (child: ChildProcess): AbortSignal => {
  const known = ends.get(child)
  if (known) return known
  const ended = new AbortController()
  child.once('exit', () => ended.abort(new Error('the load generator died')))
  ends.set(child, ended.signal)
  return ended.signal
}
