import { FairQueue, type Flow, type Ticket } from '@fms/scheduling'
import { bodyTooLarge, flowOf, Gauge, overloaded, smallBodyBytes } from '@fms/service-kit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { maxWaitMs, type WaitingReply, waitForPlaces } from './door.ts'

/** How often a holding of the largest holder is evicted while others wait, in milliseconds. */
const patienceMs = 250

const budgets = new Map<string, ByteBudget>()

new Gauge({
  name: 'gateway_bytes_held',
  help: 'Bytes over 16 KiB of request bodies until the work for them is done, and over 256 KiB of responses until they are read',
  labelNames: ['of'],
  collect() {
    for (const [of, { held }] of budgets) this.set({ of }, held)
  },
})

interface Wait {
  organization: string
  bytes: number
}

interface Holding {
  ticket: Ticket
  evict: () => unknown
}

/**
 * Memory for what many callers send or read, an eighth at most for an organization. When all is held, the largest holder
 * that can lose a holding loses its oldest.
 */
export class ByteBudget {
  readonly #queue: FairQueue
  readonly #share: number
  readonly #holdings = new Set<Holding>()
  readonly #waits = new Set<Wait>()
  /** Set while anything waits: one timer for all, which may be thousands. */
  #timer: NodeJS.Timeout | undefined

  /** @param of for the metric. @param minBytes what an organization may hold at least. */
  constructor(of: 'requests' | 'responses' | 'public forms', bytes: number, minBytes = 0) {
    this.#share = Math.max(minBytes, Math.floor(bytes / 8))
    this.#queue = new FairQueue({ places: bytes, perOrganization: this.#share })
    budgets.set(of, this)
  }

  get held(): number {
    return this.#queue.held
  }

  isAwaitedBy(flow: Flow): boolean {
    return this.#queue.isAwaitedBy(flow)
  }

  /**
   * Holds free bytes; undefined if there are none.
   *
   * @param evict called when others need them: releases them, or returns false if they are needed here.
   * @returns the function that releases them, safe to call again.
   */
  tryHold(flow: Flow, bytes: number, evict: () => unknown): (() => void) | undefined {
    const ticket = this.#queue.enter(flow, () => {}, bytes)
    if (ticket.state === 'admitted') return this.#hold(ticket, evict)
    this.#queue.leave(ticket)
    return undefined
  }

  /** Holds bytes as {@link tryHold} does, after a wait; undefined if none came free in time or the caller has gone. */
  async hold(
    flow: Flow,
    bytes: number,
    evict: () => unknown,
    reply?: WaitingReply,
  ): Promise<(() => void) | undefined> {
    const release = this.tryHold(flow, bytes, evict)
    if (release) return release
    const wait = { organization: flow.organization, bytes }
    this.#waits.add(wait)
    this.#timer ??= setInterval(() => this.#makeRoom(), patienceMs)
    const ticket = await waitForPlaces(this.#queue, flow, { maxWaitMs, reply, places: bytes })
    this.#waits.delete(wait)
    if (this.#waits.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
    return ticket && this.#hold(ticket, evict)
  }

  #hold(ticket: Ticket, evict: () => unknown): () => void {
    const holding = { ticket, evict }
    this.#holdings.add(holding)
    return () => {
      this.#holdings.delete(holding)
      this.#queue.leave(ticket)
    }
  }

  /** Ends the oldest holding that can end of the largest holder that has one, for a wait within its share. */
  #makeRoom(): void {
    const held = new Map<string, number>()
    for (const { ticket } of this.#holdings) {
      const { flow, places } = ticket
      held.set(flow.organization, (held.get(flow.organization) ?? 0) + places)
    }
    for (const [holder, most] of [...held].sort(([, one], [, other]) => other - one)) {
      const mayHold = ({ organization, bytes }: Wait) => {
        const needed = (held.get(organization) ?? 0) + bytes
        return needed <= this.#share && needed < most
      }
      if (!this.#waits.values().some(mayHold)) return
      for (const holding of this.#holdings) {
        if (holding.ticket.flow.organization !== holder || holding.evict() === false) continue
        this.#holdings.delete(holding)
        return
      }
    }
  }
}

/**
 * Rejects bodies by content-length before their type is checked: 413 precedes 415. Holds the bytes of a long body until
 * its work is done. Register it after the hook that limits concurrency.
 */
export const holdBodies = (app: FastifyInstance, budget: ByteBudget): void => {
  app.addHook('preParsing', async (request, reply) => {
    const bytes = lengthOf(request)
    if (bytes > request.routeOptions.bodyLimit) throw bodyTooLarge(request.routeOptions.bodyLimit)
    if (bytes <= smallBodyBytes) return
    // Only a body that is still on its way is evicted: a service may be at work on others.
    const evict = () => !request.raw.complete && reply.raw.destroy()
    const release = await budget.hold(flowOf(request.identity), bytes, evict, reply)
    if (!release) throw overloaded()
    request.permit.attach(release)
  })
}

/** The length of the body; without content-length, the largest that the route takes. */
const lengthOf = ({ headers, routeOptions }: FastifyRequest): number => {
  if (headers['content-length'] !== undefined) return Number(headers['content-length'])
  return headers['transfer-encoding'] === undefined ? 0 : routeOptions.bodyLimit
}
