/** Whose work it is. */
export interface Flow {
  organization: string
  user: string
}

/** Places that work may hold at the same time; any number of pieces of work may wait for them. */
export interface FairQueueOptions {
  places: number
  /** Default: all of them. */
  perOrganization?: number
  /** Default: those of its organization. */
  perUser?: number
}

/** A piece of work that waits or holds places. Only its queue changes it. */
export interface Ticket {
  readonly flow: Flow
  /** The places that it holds once it is admitted. */
  readonly places: number
  readonly onAdmitted: (ticket: Ticket) => void
  state: 'waiting' | 'admitted' | 'gone'
}

/**
 * Admits work in turn: over organizations, and within each over its users. Next is the organization that holds the fewest
 * places, then the one whose turn is the longest ago. A newcomer, who holds none, waits for a place to become free, and
 * behind other newcomers, but behind no backlog. Work of one user is admitted in the order of its arrival.
 *
 * Does not know time: callers leave when they have waited for too long. See docs/decisions/0040.
 */
export class FairQueue {
  readonly #limits: readonly [number, number, number]
  readonly #all: QueueNode

  constructor({ places, perOrganization = places, perUser = perOrganization }: FairQueueOptions) {
    this.#limits = [places, perOrganization, perUser]
    this.#all = new QueueNode(places)
  }

  get waiting(): number {
    return this.#all.waiting
  }

  get held(): number {
    return this.#all.held
  }

  /** Whether work of the user waits. */
  isAwaitedBy({ organization, user }: Flow): boolean {
    return (this.#all.child(organization)?.child(user)?.waiting ?? 0) > 0
  }

  /**
   * Queues work for at most a user's places. Calls `onAdmitted` once, perhaps before it returns, unless the ticket
   * leaves.
   */
  enter(flow: Flow, onAdmitted: (ticket: Ticket) => void, places = 1): Ticket {
    const ticket: Ticket = { flow, places: Math.min(places, ...this.#limits), onAdmitted, state: 'waiting' }
    const [, perOrganization, perUser] = this.#limits
    const organization = this.#all.arrive(flow.organization, perOrganization)
    const user = organization.arrive(flow.user, perUser)
    for (const node of [this.#all, organization, user]) node.waiting++
    user.tickets.push(ticket)
    this.#admit()
    return ticket
  }

  /** Ends the wait of a ticket, or gives back its places. Does nothing the second time. */
  leave(ticket: Ticket): void {
    const { state, places, flow } = ticket
    if (state === 'gone') return
    ticket.state = 'gone'
    const path = this.#pathOf(flow)
    const [all, organization, user] = path
    if (state === 'waiting') {
      user.tickets.splice(user.tickets.indexOf(ticket), 1)
      for (const node of path) node.waiting--
    } else {
      for (const node of path) node.held -= places
    }
    organization.forgetIfIdle(flow.user)
    all.forgetIfIdle(flow.organization)
    this.#admit()
  }

  /** Does work in its turn. It holds its place until it is done. */
  async run<T>(flow: Flow, work: () => T | Promise<T>): Promise<T> {
    const ticket = await new Promise<Ticket>((resolve) => this.enter(flow, resolve))
    try {
      return await work()
    } finally {
      this.leave(ticket)
    }
  }

  #pathOf({ organization, user }: Flow): [QueueNode, QueueNode, QueueNode] {
    const ofOrganization = this.#all.child(organization)!
    return [this.#all, ofOrganization, ofOrganization.child(user)!]
  }

  #admit(): void {
    while (!this.#all.isFull) {
      const ticket = this.#all.next()
      // What needs more places than are free waits for them, and all others behind it: else it might wait forever.
      if (!ticket || !this.#all.hasRoomFor(ticket)) return
      const [all, organization, user] = this.#pathOf(ticket.flow)
      user.tickets.splice(user.tickets.indexOf(ticket), 1)
      for (const node of [all, organization, user]) {
        node.waiting--
        node.held += ticket.places
      }
      all.takeTurn(organization)
      organization.takeTurn(user)
      ticket.state = 'admitted'
      ticket.onAdmitted(ticket)
    }
  }
}

/** A node of the tree: all work, that of an organization, or that of a user. Only users have tickets. */
class QueueNode {
  held = 0
  waiting = 0
  /** The round of its group in which it is next. */
  turn = 0
  /**
   * Tickets of a user that wait, in the order of their arrival. No set: V8 links the tables of one that empties and fills
   * all the time, and so keeps dead requests alive.
   */
  readonly tickets: Ticket[] = []
  readonly #places: number
  readonly #children = new Map<string, QueueNode>()
  /** The round in which the last child was admitted. */
  #round = 0

  constructor(places: number) {
    this.#places = places
  }

  child(name: string): QueueNode | undefined {
    return this.#children.get(name)
  }

  /** A child that is about to wait. If it does not yet, it lines up behind those that do. */
  arrive(name: string, places: number): QueueNode {
    const child = this.#children.get(name) ?? new QueueNode(places)
    if (child.waiting > 0) return child
    this.#children.delete(name)
    this.#children.set(name, child)
    return child
  }

  get isFull(): boolean {
    return this.held >= this.#places
  }

  hasRoomFor({ places }: Ticket): boolean {
    return this.held + places <= this.#places
  }

  /** The ticket to admit next; undefined when none waits, or none within the places of its user and organization. */
  next(): Ticket | undefined {
    if (this.waiting === 0) return undefined
    let [first] = this.tickets
    let owner: QueueNode | undefined
    for (const [name, child] of this.#children) {
      this.forgetIfIdle(name)
      if (owner && !child.#isBefore(owner)) continue
      const ticket = child.next()
      if (!ticket || !child.hasRoomFor(ticket)) continue
      owner = child
      first = ticket
    }
    return first
  }

  takeTurn(child: QueueNode): void {
    this.#round = Math.max(child.turn, this.#round)
    child.turn = this.#round + 1
  }

  /** Forgets an idle child. While others wait, its turn is remembered until the end of the round. */
  forgetIfIdle(name: string): void {
    const child = this.#children.get(name)!
    if (child.waiting > 0 || child.held > 0) return
    if (this.waiting === 0 || child.turn <= this.#round) this.#children.delete(name)
  }

  #isBefore(other: QueueNode): boolean {
    return this.held < other.held || (this.held === other.held && this.turn < other.turn)
  }
}
