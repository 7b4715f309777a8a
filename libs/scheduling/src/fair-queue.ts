/** Whose work it is. */
export interface Flow {
  organization: string
  user: string
}

/** Seats that work may hold at the same time; any number of pieces of work may wait for them. */
export interface FairQueueOptions {
  seats: number
  /** Default: all of them. */
  perOrganization?: number
  /** Default: those of its organization. */
  perUser?: number
}

/** A piece of work that waits or holds seats. Only its queue changes it. */
export interface QueueEntry {
  readonly flow: Flow
  /** The seats that it holds once it is admitted. */
  readonly seats: number
  readonly onAdmitted: (entry: QueueEntry) => void
  state: 'waiting' | 'admitted' | 'gone'
}

/**
 * Admits work in turn: over organizations, and within each over its users. Next is the organization that holds the fewest
 * seats, then the one whose turn is the longest ago. One that holds none waits for a seat to become free, and for earlier
 * ones that hold none, but for no backlog. Work of one user is admitted in the order of its arrival.
 *
 * Does not know time: callers leave when they have waited for too long. See docs/decisions/0040.
 */
export class FairQueue {
  readonly #limits: readonly [number, number, number]
  readonly #all: QueueNode

  constructor({ seats, perOrganization = seats, perUser = perOrganization }: FairQueueOptions) {
    this.#limits = [seats, perOrganization, perUser]
    this.#all = new QueueNode(seats)
  }

  get waiting(): number {
    return this.#all.waiting
  }

  get held(): number {
    return this.#all.held
  }

  /** Whether work of the user waits. */
  hasWaiting({ organization, user }: Flow): boolean {
    return (this.#all.child(organization)?.child(user)?.waiting ?? 0) > 0
  }

  /** Whether the organization and the user may hold as many more seats. */
  hasRoomFor({ organization, user }: Flow, seats: number): boolean {
    const ofOrganization = this.#all.child(organization)
    return [ofOrganization, ofOrganization?.child(user)].every((node) => node?.hasRoomFor({ seats }) ?? true)
  }

  /**
   * Queues work for at most a user's seats. Calls `onAdmitted` once, perhaps before it returns, unless the entry
   * leaves.
   */
  enter(flow: Flow, onAdmitted: (entry: QueueEntry) => void, seats = 1): QueueEntry {
    const entry: QueueEntry = { flow, seats: Math.min(seats, ...this.#limits), onAdmitted, state: 'waiting' }
    const [, perOrganization, perUser] = this.#limits
    const organization = this.#all.arrive(flow.organization, perOrganization)
    const user = organization.arrive(flow.user, perUser)
    for (const node of [this.#all, organization, user]) node.waiting++
    user.entries.push(entry)
    this.#admit()
    return entry
  }

  /** Ends the wait of an entry, or gives back its seats. Does nothing the second time. */
  leave(entry: QueueEntry): void {
    const { state, seats, flow } = entry
    if (state === 'gone') return
    entry.state = 'gone'
    const path = this.#pathOf(flow)
    const [all, organization, user] = path
    if (state === 'waiting') {
      user.entries.splice(user.entries.indexOf(entry), 1)
      for (const node of path) node.waiting--
    } else {
      for (const node of path) node.held -= seats
    }
    organization.forgetIfIdle(flow.user)
    all.forgetIfIdle(flow.organization)
    this.#admit()
  }

  /** Does work in its turn. It holds its seat until it is done. */
  async run<T>(flow: Flow, work: () => T | Promise<T>): Promise<T> {
    const entry = await new Promise<QueueEntry>((resolve) => this.enter(flow, resolve))
    try {
      return await work()
    } finally {
      this.leave(entry)
    }
  }

  #pathOf({ organization, user }: Flow): [QueueNode, QueueNode, QueueNode] {
    const ofOrganization = this.#all.child(organization)!
    return [this.#all, ofOrganization, ofOrganization.child(user)!]
  }

  #admit(): void {
    while (!this.#all.isFull) {
      const entry = this.#all.next()
      // What needs more seats than are free waits for them, and all others behind it: else it might wait forever.
      if (!entry || !this.#all.hasRoomFor(entry)) return
      const [all, organization, user] = this.#pathOf(entry.flow)
      user.entries.splice(user.entries.indexOf(entry), 1)
      for (const node of [all, organization, user]) {
        node.waiting--
        node.held += entry.seats
      }
      all.takeTurn(organization)
      organization.takeTurn(user)
      entry.state = 'admitted'
      entry.onAdmitted(entry)
    }
  }
}

/** A node of the tree: all work, that of an organization, or that of a user. Only users have entries. */
class QueueNode {
  held = 0
  waiting = 0
  /** The round of its group in which it is next. */
  turn = 0
  /**
   * Entries of a user that wait, in the order of their arrival. No set: V8 links the tables of one that empties and fills
   * all the time, and so keeps dead requests alive.
   */
  readonly entries: QueueEntry[] = []
  readonly #seats: number
  readonly #children = new Map<string, QueueNode>()
  /** The round in which the last child was admitted. */
  #round = 0

  constructor(seats: number) {
    this.#seats = seats
  }

  child(name: string): QueueNode | undefined {
    return this.#children.get(name)
  }

  /** A child that is about to wait. If it does not yet, it lines up behind those that do. */
  arrive(name: string, seats: number): QueueNode {
    const child = this.#children.get(name) ?? new QueueNode(seats)
    if (child.waiting > 0) return child
    this.#children.delete(name)
    this.#children.set(name, child)
    return child
  }

  get isFull(): boolean {
    return this.held >= this.#seats
  }

  hasRoomFor({ seats }: Pick<QueueEntry, 'seats'>): boolean {
    return this.held + seats <= this.#seats
  }

  /** The entry to admit next; undefined when none waits, or none within the seats of its user and organization. */
  next(): QueueEntry | undefined {
    if (this.waiting === 0) return undefined
    let [first] = this.entries
    let owner: QueueNode | undefined
    for (const [name, child] of this.#children) {
      this.forgetIfIdle(name)
      if (owner && !child.#isBefore(owner)) continue
      const entry = child.next()
      if (!entry || !child.hasRoomFor(entry)) continue
      owner = child
      first = entry
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
