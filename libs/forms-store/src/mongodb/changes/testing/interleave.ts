import { setImmediate as flush } from 'node:timers/promises'
import { storeUnavailable } from '@fms/store-kit/mongodb'
import type { FormsCollections } from '../../documents.ts'
import { interceptRequests } from './intercept-requests.ts'

/** A failure of a process: it is killed before a request, or the response of a request is lost. */
export interface Failure {
  /** Number of requests before the one that fails. */
  after: number
  kind: 'kill' | 'lose response'
}

/** One process and its operations, which run one after another. */
export interface ProcessPlan {
  operations: readonly ((collections: FormsCollections) => Promise<unknown>)[]
  failure: Failure | undefined
}

/** The next process to send requests, among those that have one, and how many of them. */
export interface Turn {
  process: number
  requests: number
}

/**
 * The outcome of an operation. `first` and `last` are the steps of its first and last request. One that was killed, or
 * has not begun, has neither a result nor an error.
 */
export interface Outcome {
  first: number
  last: number
  result?: { value: unknown }
  error?: unknown
}

const killed = new Error('killed')

/** A process whose requests wait until the scheduler sends them, one at a time. */
class InterleavedProcess {
  readonly outcomes: Outcome[]
  readonly #waiting: (() => void)[] = []
  readonly #failure: Failure | undefined
  #current = 0
  #sent = 0
  #inFlight = 0
  #isKilled = false
  #isDone = false
  #onChange = () => {}

  constructor(collections: FormsCollections, { operations, failure }: ProcessPlan) {
    this.#failure = failure
    this.outcomes = operations.map(() => ({ first: Number.POSITIVE_INFINITY, last: -1 }))
    const intercepted = interceptRequests(collections, (request) => this.#intercept(request))
    void this.#run(operations.map((operation) => () => operation(intercepted)))
  }

  async #run(operations: readonly (() => Promise<unknown>)[]): Promise<void> {
    for (const [index, operation] of operations.entries()) {
      this.#current = index
      const outcome = this.outcomes[index]!
      try {
        const value = await operation()
        if (!this.#isKilled) outcome.result = { value }
      } catch (error) {
        if (!this.#isKilled) outcome.error = error
      }
      if (this.#isKilled) break
    }
    this.#isDone = true
    this.#onChange()
  }

  /** The index of the operation that runs. */
  get current(): number {
    return this.#current
  }

  get isWaiting(): boolean {
    return this.#waiting.length > 0
  }

  /** Sends the next request, and resolves when the process has no other request in flight and waits, or is done. */
  async step(step: number): Promise<void> {
    const outcome = this.outcomes[this.#current]!
    outcome.first = Math.min(outcome.first, step)
    outcome.last = step
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
 * Runs processes with one request at a time, in the order of `turns`, and then each to its end.
 *
 * @param afterStep called after each request, with the number of its process and of its operation.
 * @returns the outcomes of the operations of each process.
 */
export const interleave = async (
  collections: FormsCollections,
  plans: readonly ProcessPlan[],
  turns: readonly Turn[],
  afterStep: (process: number, operation: number) => Promise<void>,
): Promise<Outcome[][]> => {
  const processes = plans.map((plan) => new InterleavedProcess(collections, plan))
  await Promise.all(processes.map((process) => process.settled()))
  let step = 0
  const run = async (process: InterleavedProcess, requests: number) => {
    for (let sent = 0; sent < requests && process.isWaiting; sent++) {
      const { current } = process
      await process.step(step++)
      await afterStep(processes.indexOf(process), current)
    }
  }
  const waiting = () => processes.filter((process) => process.isWaiting)
  for (const { process, requests } of turns) {
    const ready = waiting()
    if (ready.length > 0) await run(ready[process % ready.length]!, requests)
  }
  for (const process of waiting()) await run(process, Number.POSITIVE_INFINITY)
  return processes.map(({ outcomes }) => outcomes)
}
