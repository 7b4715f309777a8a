import { FairQueue, type Flow, type QueueEntry } from '@fms/scheduling'
import { bodyTooLarge, flowOf, Gauge, overloaded, smallBodyBytes } from '@fms/service-kit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { maxWaitMs, type WaitingReply, waitForSeats } from './admission-queue.ts'

/** How often a reservation of the largest holder is evicted while others wait, in milliseconds. */
const evictionIntervalMs = 250

const budgets = new Map<string, MemoryBudget>()

new Gauge({
  name: 'gateway_bytes_reserved',
  help: 'Bytes over 16 KiB of request bodies until the work for them is done, and over 256 KiB of responses until they are read',
  labelNames: ['of'],
  collect() {
    for (const [of, { held }] of budgets) this.set({ of }, held)
  },
})

interface Wait {
  flow: Flow
  bytes: number
}

interface Reservation {
  entry: QueueEntry
  evict: () => unknown
}

/**
 * Memory for what many callers send or read, an eighth at most for an organization, half of that for a user. When all is
 * held, the largest holder that can lose a reservation loses its oldest.
 */
export class MemoryBudget {
  readonly #queue: FairQueue
  readonly #reservations = new Set<Reservation>()
  readonly #waits = new Set<Wait>()
  /** Set while anything waits: one timer for all, which may be thousands. */
  #timer: NodeJS.Timeout | undefined

  /** @param of for the metric. @param minBytes what an organization, and a user, may hold at least. */
  constructor(of: 'requests' | 'responses' | 'public forms', bytes: number, minBytes = 0) {
    const perOrganization = Math.max(minBytes, Math.floor(bytes / 8))
    const perUser = Math.max(minBytes, Math.floor(perOrganization / 2))
    this.#queue = new FairQueue({ seats: bytes, perOrganization, perUser })
    budgets.set(of, this)
  }

  get held(): number {
    return this.#queue.held
  }

  hasWaiting(flow: Flow): boolean {
    return this.#queue.hasWaiting(flow)
  }

  /**
   * Holds free bytes; undefined if there are none.
   *
   * @param evict called when others need them: releases them, or returns false if they are needed here.
   * @returns the function that releases them, safe to call again.
   */
  tryReserve(flow: Flow, bytes: number, evict: () => unknown): (() => void) | undefined {
    const entry = this.#queue.enter(flow, () => {}, bytes)
    if (entry.state === 'admitted') return this.#reserve(entry, evict)
    this.#queue.leave(entry)
    return undefined
  }

  /** Holds bytes as {@link tryReserve} does, after a wait; undefined if none came free in time or the caller has gone. */
  async reserve(
    flow: Flow,
    bytes: number,
    evict: () => unknown,
    reply?: WaitingReply,
  ): Promise<(() => void) | undefined> {
    const release = this.tryReserve(flow, bytes, evict)
    if (release) return release
    const wait = { flow, bytes }
    this.#waits.add(wait)
    this.#timer ??= setInterval(() => this.#makeRoom(), evictionIntervalMs)
    const entry = await waitForSeats(this.#queue, flow, { maxWaitMs, reply, seats: bytes })
    this.#waits.delete(wait)
    if (this.#waits.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
    return entry && this.#reserve(entry, evict)
  }

  #reserve(entry: QueueEntry, evict: () => unknown): () => void {
    const reservation = { entry, evict }
    this.#reservations.add(reservation)
    return () => {
      this.#reservations.delete(reservation)
      this.#queue.leave(entry)
    }
  }

  /** Ends the oldest reservation that can end of the largest holder that has one, for a wait within its shares. */
  #makeRoom(): void {
    const held = new Map<string, number>()
    for (const { entry } of this.#reservations) {
      const { flow, seats } = entry
      held.set(flow.organization, (held.get(flow.organization) ?? 0) + seats)
    }
    for (const [holder, most] of [...held].sort(([, one], [, other]) => other - one)) {
      const mayHold = ({ flow, bytes }: Wait) =>
        this.#queue.hasRoomFor(flow, bytes) && (held.get(flow.organization) ?? 0) + bytes < most
      if (!this.#waits.values().some(mayHold)) return
      for (const reservation of this.#reservations) {
        if (reservation.entry.flow.organization !== holder || reservation.evict() === false) continue
        this.#reservations.delete(reservation)
        return
      }
    }
  }
}

/**
 * Rejects bodies by content-length before their type is checked: 413 precedes 415. Holds the bytes of a long body until
 * its work is done. Register it after the hook that limits concurrency.
 */
export const reserveBodies = (app: FastifyInstance, budget: MemoryBudget): void => {
  app.addHook('preParsing', async (request, reply) => {
    const bytes = lengthOf(request)
    if (bytes > request.routeOptions.bodyLimit) throw bodyTooLarge(request.routeOptions.bodyLimit)
    if (bytes <= smallBodyBytes) return
    // Only a body that is still on its way is evicted: a service may be at work on others.
    const evict = () => !request.raw.complete && reply.raw.destroy()
    const release = await budget.reserve(flowOf(request.identity), bytes, evict, reply)
    if (!release) throw overloaded()
    request.permit.defer(release)
  })
}

/** The length of the body; without content-length, the largest that the route takes. */
const lengthOf = ({ headers, routeOptions }: FastifyRequest): number => {
  if (headers['content-length'] !== undefined) return Number(headers['content-length'])
  return headers['transfer-encoding'] === undefined ? 0 : routeOptions.bodyLimit
}
