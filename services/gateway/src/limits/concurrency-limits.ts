import type { Identity } from '@fms/contracts'
import { tooManyAtOnce } from '../errors.ts'

/** Whose requests a limit counts. */
export type Scope = 'user' | 'organization'

/** How many units each of many keys may hold at once. A key that holds none takes no memory. */
export class ConcurrencyLimit {
  readonly scope: Scope
  readonly max: number
  readonly #inFlight = new Map<string, number>()

  /** @param max units of one key; 0 takes the limit away. */
  constructor(scope: Scope, max: number) {
    this.scope = scope
    this.max = max === 0 ? Number.POSITIVE_INFINITY : max
  }

  /** @throws {ApiError} TOO_MANY_AT_ONCE; then nothing is held that was not before. */
  acquire(key: string, units = 1): void {
    const inFlight = (this.#inFlight.get(key) ?? 0) + units
    if (inFlight > this.max) throw tooManyAtOnce(this.scope, this.max)
    this.#inFlight.set(key, inFlight)
  }

  release(key: string, units = 1): void {
    const inFlight = (this.#inFlight.get(key) ?? 0) - units
    if (inFlight > 0) this.#inFlight.set(key, inFlight)
    else this.#inFlight.delete(key)
  }

  /** Keys that hold something. */
  get size(): number {
    return this.#inFlight.size
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
  units: number
}

/** What one request holds of the limits of its user and organization: a unit, and more for a long response. */
export class ConcurrencyPermit {
  readonly #shares: Share[] = []
  #holders = 1

  /** @throws {ApiError} TOO_MANY_AT_ONCE */
  acquire(limit: ConcurrencyLimit, key: string): void {
    limit.acquire(key)
    this.#shares.push({ limit, key, units: 1 })
  }

  /**
   * Raises what is held to `units`, or to all of a limit that is smaller: nothing is too long to be sent by itself.
   *
   * @throws {ApiError} TOO_MANY_AT_ONCE
   */
  raise(units: number): void {
    for (const share of this.#shares) {
      const more = Math.min(units, share.limit.max) - share.units
      if (more <= 0) continue
      share.limit.acquire(share.key, more)
      share.units += more
    }
  }

  /** One more {@link release} is needed: what is held is held until the last one. */
  retain(): void {
    this.#holders++
  }

  release(): void {
    if (--this.#holders > 0) return
    for (const { limit, key, units } of this.#shares) limit.release(key, units)
    this.#shares.length = 0
  }
}
