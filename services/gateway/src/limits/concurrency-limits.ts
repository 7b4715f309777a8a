import type { Identity } from '@fms/contracts'
import { tooManyAtOnce } from '../errors.ts'

/** Whose requests a limit counts. */
export type Scope = 'user' | 'organization'

interface Held {
  requests: number
  /** Units of long responses beyond the first of each. */
  more: number
}

/** How many units each of many keys may hold at once. A key that holds none takes no memory. */
export class ConcurrencyLimit {
  readonly scope: Scope
  readonly max: number
  readonly #held = new Map<string, Held>()

  /** @param max units of one key; 0 takes the limit away. */
  constructor(scope: Scope, max: number) {
    this.scope = scope
    this.max = max === 0 ? Number.POSITIVE_INFINITY : max
  }

  /** Takes one unit for a request. @throws {ApiError} TOO_MANY_AT_ONCE */
  acquire(key: string): void {
    const held = this.#held.get(key) ?? { requests: 0, more: 0 }
    if (held.requests + held.more >= this.max) throw tooManyAtOnce(this.scope, this.max)
    held.requests++
    this.#held.set(key, held)
  }

  /**
   * Takes further units for a long response. Requests that still wait for theirs do not count: many that begin at once
   * would keep each other from being sent.
   *
   * @throws {ApiError} TOO_MANY_AT_ONCE; then nothing is held that was not before.
   */
  raise(key: string, units: number): void {
    const held = this.#held.get(key)!
    if (held.more > 0 && held.more + units > this.max) throw tooManyAtOnce(this.scope, this.max)
    held.more += units
  }

  /** @param more what {@link raise} took beside the request's own unit. */
  release(key: string, more = 0): void {
    const held = this.#held.get(key)!
    held.requests--
    held.more -= more
    if (held.requests === 0) this.#held.delete(key)
  }

  /** Keys that hold something. */
  get size(): number {
    return this.#held.size
  }
}

/** How many requests one user, and one organization, may have in flight at once in this gateway. */
export class ConcurrencyLimits {
  readonly users: ConcurrencyLimit
  readonly organizations: ConcurrencyLimit

  /**
   * @param maxPerUser 0 takes the limit away.
   * @param maxPerOrganization at least 1.
   */
  constructor(maxPerUser: number, maxPerOrganization: number) {
    this.users = new ConcurrencyLimit('user', maxPerUser)
    this.organizations = new ConcurrencyLimit('organization', maxPerOrganization)
  }

  /** @throws {ApiError} TOO_MANY_AT_ONCE */
  acquire({ userId, organizationId }: Identity): ConcurrencyPermit {
    const permit = new ConcurrencyPermit()
    permit.acquire(this.users, userId)
    if (organizationId === undefined) return permit
    try {
      permit.acquire(this.organizations, organizationId)
    } catch (error) {
      permit.release()
      throw error
    }
    return permit
  }
}

interface Share {
  limit: ConcurrencyLimit
  key: string
  more: number
}

/** What one request holds of the limits of its user and organization: a unit, and more for a long response. */
export class ConcurrencyPermit {
  readonly #shares: Share[] = []
  #holders = 1

  /** @throws {ApiError} TOO_MANY_AT_ONCE */
  acquire(limit: ConcurrencyLimit, key: string): void {
    limit.acquire(key)
    this.#shares.push({ limit, key, more: 0 })
  }

  /**
   * Raises what is held to `units`, or to all of a limit that is smaller: nothing is too long to be sent by itself. May
   * be repeated.
   *
   * @throws {ApiError} TOO_MANY_AT_ONCE
   */
  raise(units: number): void {
    for (const share of this.#shares) {
      const more = Math.min(units, share.limit.max) - 1 - share.more
      if (more <= 0) continue
      share.limit.raise(share.key, more)
      share.more += more
    }
  }

  /** One more {@link release} is needed: what is held is held until the last one. */
  retain(): void {
    this.#holders++
  }

  release(): void {
    if (--this.#holders > 0) return
    for (const { limit, key, more } of this.#shares) limit.release(key, more)
    this.#shares.length = 0
  }
}
