import { FairQueue, type FairQueueOptions, type Flow } from '@fms/fair-queue'
import { durationBuckets, Gauge, Histogram, overloaded } from '@fms/service-kit'
import { maxWaitMs, type WaitingCaller, waitForTurn } from './wait-for-turn.ts'

/** Wait after which a request is authorized again, in milliseconds: a revoked key stops working within a second. */
const lateMs = 1_000

type Cost = 'ordinary' | 'dear'

const doors = new Map<string, Record<Cost, FairQueue>>()

new Gauge({
  name: 'door_requests',
  help: 'Requests at the door of a service: waiting, or admitted and under way in the service',
  labelNames: ['service', 'cost', 'state'],
  collect() {
    for (const [service, queues] of doors) {
      for (const [cost, { waiting, held }] of Object.entries(queues)) {
        this.set({ service, cost, state: 'waiting' }, waiting)
        this.set({ service, cost, state: 'admitted' }, held)
      }
    }
  },
})

const waits = new Histogram({
  name: 'door_wait_seconds',
  help: 'Time that an admitted request has waited at the door of a service',
  labelNames: ['service', 'cost'],
  buckets: durationBuckets,
})

export interface Admission {
  flow: Flow
  /** Whether the work is known to be dear before it begins: then it has the smaller share. */
  isDear?: boolean
  /** Leaves when it disconnects, but not once it is admitted. */
  caller?: WaitingCaller
  maxWaitMs?: number
  /** Called before the work of a request that has waited for more than a second. */
  reauthorize?: () => Promise<void>
}

/**
 * The door of a service: admits as many requests as the service can work on, in turn over organizations and their users.
 * Dear ones have places of their own, a quarter as many: one of a user, two of an organization. What is not admitted
 * waits here, where it costs nothing. See docs/decisions/0040.
 */
export class Door {
  readonly #queues: Record<Cost, FairQueue>
  readonly #waits: Record<Cost, { observe(seconds: number): void }>

  constructor(service: string, ordinary: FairQueueOptions) {
    const places = Math.ceil(ordinary.places / 4)
    this.#queues = {
      ordinary: new FairQueue(ordinary),
      dear: new FairQueue({ places, perOrganization: 2, perUser: 1 }),
    }
    this.#waits = { ordinary: waits.labels(service, 'ordinary'), dear: waits.labels(service, 'dear') }
    doors.set(service, this.#queues)
  }

  /**
   * Does work when it is its turn. It holds its place until it is done, also when its caller has gone.
   *
   * @returns undefined when the caller has disconnected before its turn.
   * @throws {ApiError} OVERLOADED when its turn does not come in time; the errors of the work.
   */
  async admit<T>(
    { flow, isDear = false, caller, reauthorize, ...wait }: Admission,
    work: () => Promise<T>,
  ): Promise<T | undefined> {
    if (caller?.hasEnded) return undefined
    const cost = isDear ? 'dear' : 'ordinary'
    const queue = this.#queues[cost]
    const start = performance.now()
    const ticket = await waitForTurn(queue, flow, { maxWaitMs, caller, ...wait })
    if (!ticket && caller?.hasEnded) return undefined
    if (!ticket) throw overloaded()
    const waitedMs = performance.now() - start
    this.#waits[cost].observe(waitedMs / 1000)
    try {
      if (waitedMs >= lateMs) await reauthorize?.()
      return await work()
    } finally {
      queue.leave(ticket)
    }
  }
}
