import { Counter, Gauge } from '@fms/service-kit'
import type { FastifyBaseLogger } from 'fastify'

const openCircuits = new Gauge({
  name: 'circuit_open',
  help: '1 while the circuit is open: all requests but one trial a second fail immediately',
  labelNames: ['circuit'],
})

const requests = new Counter({
  name: 'circuit_requests_total',
  help: 'Requests through a circuit: success, failure of the transport, or reject for those that an open circuit fails immediately',
  labelNames: ['circuit', 'outcome'],
})

/** Failures without a success in between that open a circuit. */
const maxFailures = 5

/** Duration of a failure that opens a circuit on its own, in milliseconds: a timeout. */
const timeoutMs = 1_000

/** Interval of the trials of an open circuit, in milliseconds. */
const trialMs = 1_000

/** The circuit is open. */
export class CircuitOpen extends Error {}

/**
 * Fails requests to an upstream immediately while it cannot be reached. Opens at the fifth failure of the transport in a
 * row, or at one that took a second in which nothing succeeded. While it is open, one request in a second is a trial: a
 * success closes it. Any response is a success, since callers can cause errors, but no failure of the transport.
 */
export class Circuit {
  readonly #name: string
  readonly #logger: FastifyBaseLogger
  #failures = 0
  #isOpen = false
  #nextTrial = 0
  #lastSuccess = Number.NEGATIVE_INFINITY

  constructor(name: string, logger: FastifyBaseLogger) {
    this.#name = name
    this.#logger = logger
    openCircuits.set({ circuit: name }, 0)
    for (const outcome of ['success', 'failure', 'reject']) requests.inc({ circuit: name, outcome }, 0)
  }

  /**
   * Runs an action unless the circuit is open.
   *
   * @param isFailure whether an error of the action is one of the transport. Others neither open nor close the circuit.
   * @throws {CircuitOpen} immediately; the error of the action.
   */
  async run<T>(action: () => Promise<T>, isFailure: (error: unknown) => boolean = () => true): Promise<T> {
    const start = performance.now()
    if (this.#isOpen) {
      if (start < this.#nextTrial) {
        this.#count('reject')
        throw new CircuitOpen(`the circuit of ${this.#name} is open`)
      }
      this.#nextTrial = start + trialMs
    }
    try {
      const result = await action()
      this.#succeed()
      return result
    } catch (error) {
      if (isFailure(error)) this.#fail(start)
      throw error
    }
  }

  #succeed(): void {
    this.#count('success')
    this.#lastSuccess = performance.now()
    this.#failures = 0
    if (this.#isOpen) this.#set(false)
  }

  #fail(start: number): void {
    this.#count('failure')
    const now = performance.now()
    const isTimeout = now - start >= timeoutMs && this.#lastSuccess <= start
    if (++this.#failures < maxFailures && !isTimeout) return
    this.#nextTrial = now + trialMs
    if (!this.#isOpen) this.#set(true)
  }

  #set(isOpen: boolean): void {
    this.#isOpen = isOpen
    openCircuits.set({ circuit: this.#name }, isOpen ? 1 : 0)
    const fields = { circuit: this.#name }
    if (isOpen) this.#logger.warn(fields, 'circuit open: its requests fail immediately')
    else this.#logger.info(fields, 'circuit closed: its requests succeed again')
  }

  #count(outcome: string): void {
    requests.inc({ circuit: this.#name, outcome })
  }
}
