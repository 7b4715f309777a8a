/** Whose work it is. */
export interface Flow {
  organization: string
  user: string
}

/**
 * Work that waits. It is taken in turn over organizations, and within each over its users; that of one user in the order
 * of its arrival. A newcomer is next, and behind no backlog. Whoever was served keeps its turn until the round is over or
 * nothing waits, so nobody becomes a newcomer by leaving the queue for a moment.
 */
export class TurnQueue<T> {
  readonly #all = new Member<T>()

  get size(): number {
    return this.#all.waiting
  }

  add({ organization, user }: Flow, work: T): void {
    this.#all.add([organization, user], work)
  }

  /** Removes the next work. @param skips organizations whose work is not taken now. */
  take(skips?: ReadonlySet<string>): T | undefined {
    return this.#all.take(skips)
  }
}

/** All work, that of an organization, or that of a user. */
class Member<T> {
  waiting = 0
  /** Work of a user. */
  readonly #work: T[] = []
  /** Those that have had no turn yet, and the others; each in the order of their turns. */
  readonly #newcomers = new Map<string, Member<T>>()
  readonly #served = new Map<string, Member<T>>()

  add([name, ...rest]: string[], work: T): void {
    this.waiting++
    if (name === undefined) return void this.#work.push(work)
    let member = this.#newcomers.get(name) ?? this.#served.get(name)
    if (!member) {
      member = new Member()
      this.#newcomers.set(name, member)
    }
    member.add(rest, work)
  }

  take(skips?: ReadonlySet<string>): T | undefined {
    const work = this.#work.shift() ?? this.#takeOfNext(skips)
    if (work === undefined) return undefined
    this.waiting--
    if (this.waiting === 0) this.#served.clear()
    return work
  }

  #takeOfNext(skips?: ReadonlySet<string>): T | undefined {
    for (const members of [this.#newcomers, this.#served]) {
      for (const [name, member] of members) {
        if (skips?.has(name)) continue
        members.delete(name)
        // It has let its turn in this round pass.
        if (member.waiting === 0) continue
        this.#served.set(name, member)
        return member.take()
      }
    }
    return undefined
  }
}
