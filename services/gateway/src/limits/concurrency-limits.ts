import type { Identity } from '@fms/contracts'
import { tooManyAtOnce } from '../errors.ts'

/** What a limit counts requests by. */
export type Scope = 'user' | 'organization'

interface Held {
  requests: number
  /** Units of long responses beyond the first one of each request. */
  extraUnits: number
}

/** Bounds the units that each key holds concurrently. A key that holds none takes no memory. */
export class KeyedConcurrencyLimit {
  readonly scope: Scope
  readonly max: number
  readonly #held = new Map<string, Held>()

  /** @param max units of one key; 0 lifts the limit. */
  constructor(scope: Scope, max: number) {
    this.scope = scope
    this.max = max === 0 ? Number.POSITIVE_INFINITY : max
  }

  /** Acquires one unit for a request. @throws {ApiError} TOO_MANY_AT_ONCE */
  acquire(key: string): void {
    const held = this.#held.get(key) ?? { requests: 0, extraUnits: 0 }
    if (held.requests + held.extraUnits >= this.max) throw tooManyAtOnce(this.scope, this.max)
    held.requests++
    this.#held.set(key, held)
  }

  /**
   * Acquires further units for a long response. The first units of requests do not count here: otherwise many
   * concurrent requests would block each other's responses.
   *
   * @throws {ApiError} TOO_MANY_AT_ONCE; then no further unit is held.
   */
  raise(key: string, units: number): void {
    const held = this.#held.get(key)!
    if (held.extraUnits > 0 && held.extraUnits + units > this.max) throw tooManyAtOnce(this.scope, this.max)
    held.extraUnits += units
  }

  /** Releases a request's unit. @param extraUnits what {@link raise} acquired for it. */
  release(key: string, extraUnits = 0): void {
    const held = this.#held.get(key)!
    held.requests--
    held.extraUnits -= extraUnits
    if (held.requests === 0) this.#held.delete(key)
  }

  /** Keys that hold units. */
  get size(): number {
    return this.#held.size
  }
}

/** Bounds the requests of one user, and of one organization, that are in flight in this gateway. */
export class ConcurrencyLimits {
  readonly users: KeyedConcurrencyLimit
  readonly organizations: KeyedConcurrencyLimit

  /**
   * @param maxPerUser 0 lifts the limit.
   * @param maxPerOrganization at least 1.
   */
  constructor(maxPerUser: number, maxPerOrganization: number) {
    this.users = new KeyedConcurrencyLimit('user', maxPerUser)
    this.organizations = new KeyedConcurrencyLimit('organization', maxPerOrganization)
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
  limit: KeyedConcurrencyLimit
  key: string
  extraUnits: number
}

/** The units that one request holds of the limits of its user and organization: one, and more for a long response. */
export class ConcurrencyPermit {
  readonly #shares: Share[] = []
  #holders = 1

  /** @throws {ApiError} TOO_MANY_AT_ONCE */
  acquire(limit: KeyedConcurrencyLimit, key: string): void {
    limit.acquire(key)
    this.#shares.push({ limit, key, extraUnits: 0 })
  }

  /**
   * Raises the units held of each limit to `units`, at most to the whole limit, so that a response of any length can be
   * sent. Safe to repeat after an error.
   *
   * @throws {ApiError} TOO_MANY_AT_ONCE
   */
  raise(units: number): void {
    for (const share of this.#shares) {
      const missing = Math.min(units, share.limit.max) - 1 - share.extraUnits
      if (missing <= 0) continue
      share.limit.raise(share.key, missing)
      share.extraUnits += missing
    }
  }

  /** Adds a holder: the units are released when each holder has called {@link release}. */
  retain(): void {
    this.#holders++
  }

  release(): void {
    if (--this.#holders > 0) return
    for (const { limit, key, extraUnits } of this.#shares) limit.release(key, extraUnits)
    this.#shares.length = 0
  }
}
