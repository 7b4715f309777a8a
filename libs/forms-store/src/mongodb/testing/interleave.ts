import { setImmediate as flush } from 'node:timers/promises'
import { storeUnavailable } from '@fms/store-kit/mongodb'
import type { FormsCollections } from '../documents.ts'
import { interceptRequests } from './intercept-requests.ts'

/** How an operation ends before its time: killed before a request, or with the response of a request lost. */
export interface Failure {
  /** Number of requests before the one that fails. */
  after: number
  kind: 'kill' | 'lose response'
}

/** One operation of one process. */
export interface Operation {
  run: (collections: FormsCollections) => Promise<unknown>
  failure: Failure | undefined
}

/** The next process to send requests, among those that have one, and how many of them. */
export interface Turn {
  process: number
  requests: number
}

/** What became of an operation. `first` and `last` are the steps of its first and last request. */
export interface Outcome {
  first: number
  last: number
  /** Its result, unless it was killed or failed. */
  result?: { value: unknown }
  error?: unknown
}

const killed = new Error('killed')

/** An operation whose requests wait until the scheduler sends them, one at a time. */
class InterleavedProcess {
  readonly outcome: Outcome = { first: Number.POSITIVE_INFINITY, last: -1 }
  readonly #waiting: (() => void)[] = []
  readonly #failure: Failure | undefined
  #sent = 0
  #inFlight = 0
  #isKilled = false
  #isDone = false
  #onChange = () => {}

  constructor(collections: FormsCollections, { run, failure }: Operation) {
    this.#failure = failure
    const intercepted = interceptRequests(collections, (request) => this.#intercept(request))
    run(intercepted)
      .then(
        (value) => {
          this.outcome.result = { value }
        },
        (error) => {
          this.outcome.error = error
        },
      )
      .finally(() => {
        this.#isDone = true
        this.#onChange()
      })
  }

  get isWaiting(): boolean {
    return this.#waiting.length > 0
  }

  /** Whether the process was killed. Its operation may go on, but sends nothing any more. */
  get isKilled(): boolean {
    return this.#isKilled
  }

  /** Sends the next request, and resolves when the process has no other request in flight and waits, or is done. */
  async step(step: number): Promise<void> {
    this.outcome.first = Math.min(this.outcome.first, step)
    this.outcome.last = step
    this.#inFlight++
    this.#waiting.shift()!()
    await this.settled()
  }

  async settled(): Promise<void> {
    for (;;) {
      await flush()
      if (this.#inFlight === 0 && (this.isWaiting || this.#isDone)) return
      await new Promise<void>((resolve) => {
        this.#onChange = resolve
      })
    }
  }

  async #intercept<R>(request: () => Promise<R>): Promise<R> {
    if (this.#isKilled) throw killed
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve)
      this.#onChange()
    })
    try {
      return await this.#send(request)
    } finally {
      this.#inFlight--
      this.#onChange()
    }
  }

  async #send<R>(request: () => Promise<R>): Promise<R> {
    const failure = this.#sent++ === this.#failure?.after ? this.#failure.kind : undefined
    if (failure === 'kill') this.#isKilled = true
    if (this.#isKilled) throw killed
    const response = await request()
    if (failure) throw storeUnavailable(new Error('the response is lost'))
    return response
  }
}

/**
 * Runs operations with one request at a time, in the order of `turns`, and then each to its end.
 *
 * @param afterStep called after each request, with the index of its operation.
 * @returns the outcome of each operation. One that was killed has neither a result nor an error.
 */
export const interleave = async (
  collections: FormsCollections,
  operations: readonly Operation[],
  turns: readonly Turn[],
  afterStep: (operation: number) => Promise<void>,
): Promise<Outcome[]> => {
  const processes = operations.map((operation) => new InterleavedProcess(collections, operation))
  await Promise.all(processes.map((process) => process.settled()))
  let step = 0
  const run = async (process: InterleavedProcess, requests: number) => {
    for (let sent = 0; sent < requests && process.isWaiting; sent++) {
      await process.step(step++)
      await afterStep(processes.indexOf(process))
    }
  }
  const waiting = () => processes.filter((process) => process.isWaiting)
  for (const { process, requests } of turns) {
    const ready = waiting()
    if (ready.length > 0) await run(ready[process % ready.length]!, requests)
  }
  for (const process of waiting()) await run(process, Number.POSITIVE_INFINITY)
  return processes.map(({ outcome, isKilled }) =>
    isKilled ? { first: outcome.first, last: outcome.last } : outcome,
  )
}
