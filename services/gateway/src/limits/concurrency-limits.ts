import { setTimeout as delay } from 'node:timers/promises'
import type { Identity } from '@fms/contracts'
import type { FastifyInstance } from 'fastify'
import { tooManyAtOnce } from '../errors.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Held until the caller has read the whole response, and until all work for it is done. */
    permit: ConcurrencyPermit
  }
}

/** Bounds the concurrent requests of each user or organization, by id. One that has none takes no memory. */
export class KeyedConcurrencyLimit {
  readonly #scope: 'user' | 'organization'
  readonly #max: number
  readonly #counts = new Map<string, number>()

  /** @param max requests of one id; 0 lifts the limit. */
  constructor(scope: 'user' | 'organization', max: number) {
    this.#scope = scope
    this.#max = max === 0 ? Number.POSITIVE_INFINITY : max
  }

  /** @returns the function that releases what is acquired. @throws {ApiError} TOO_MANY_AT_ONCE */
  acquire(id: string): () => void {
    const count = this.#counts.get(id) ?? 0
    if (count >= this.#max) throw tooManyAtOnce(this.#scope, this.#max)
    this.#counts.set(id, count + 1)
    return () => this.#release(id)
  }

  #release(id: string): void {
    const count = this.#counts.get(id)! - 1
    if (count > 0) this.#counts.set(id, count)
    else this.#counts.delete(id)
  }

  get size(): number {
    return this.#counts.size
  }
}

/** Bounds the requests of one user, and of one organization, that wait or are under way in this gateway. */
export class ConcurrencyLimits {
  readonly users: KeyedConcurrencyLimit
  readonly organizations: KeyedConcurrencyLimit

  /** 0 lifts a limit. */
  constructor(maxPerUser: number, maxPerOrganization: number) {
    this.users = new KeyedConcurrencyLimit('user', maxPerUser)
    this.organizations = new KeyedConcurrencyLimit('organization', maxPerOrganization)
  }

  /** @throws {ApiError} TOO_MANY_AT_ONCE */
  acquire({ userId, organizationId }: Identity): ConcurrencyPermit {
    const permit = new ConcurrencyPermit()
    permit.defer(this.users.acquire(userId))
    if (organizationId === undefined) return permit
    try {
      permit.defer(this.organizations.acquire(organizationId))
    } catch (error) {
      permit.release()
      throw error
    }
    return permit
  }
}

/** What one request holds: its part of the limits of its user and organization, and the bytes of its body. */
export class ConcurrencyPermit {
  readonly #releases: (() => void)[] = []
  #holders = 1

  /** Adds what is released with the permit. If it is released already, at once. */
  defer(release: () => void): void {
    if (this.#holders === 0) release()
    else this.#releases.push(release)
  }

  /** Holds the permit until the work is done, which goes on also after the caller has disconnected. */
  async holdDuring<T>(work: () => Promise<T>): Promise<T> {
    this.#holders++
    try {
      return await work()
    } finally {
      this.release()
    }
  }

  release(): void {
    if (--this.#holders > 0) return
    for (const release of this.#releases) release()
    this.#releases.length = 0
  }
}

/** Delay of a rejection, in milliseconds: it costs as much as a read, and callers repeat it at once. */
const rejectionDelayMs = 500

/** Acquires what is free at once, else rejects after {@link rejectionDelayMs}. */
export const acquireOrRejectLater = <T>(acquire: () => T): T | Promise<never> => {
  try {
    return acquire()
  } catch (error) {
    return delay(rejectionDelayMs).then(() => Promise.reject(error))
  }
}

/** Bounds requests in flight of a user and an organization. Register it after the hook that sets the caller. */
export const limitConcurrency = (app: FastifyInstance, limits: ConcurrencyLimits): void => {
  app.decorateRequest('permit')
  app.addHook('onRequest', (request, reply, done) => {
    // The caller disconnected during the look-up of its key: `close` has fired, so a permit would never be released.
    if (reply.hasEnded) return void reply.hijack()
    const permit = acquireOrRejectLater(() => limits.acquire(request.identity))
    if (permit instanceof Promise) return void permit.catch(done)
    request.permit = permit
    reply.raw.on('close', () => request.permit.release())
    done()
  })
}
