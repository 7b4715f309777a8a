import type { Caller } from '../caller/authorization-cache.ts'
import { tooManyStreams } from '../errors.ts'

/** Streams that may be open at once in a gateway. No user and no organization can take all of them. */
const defaultMax = { key: 5, user: 500, organization: 500, gateway: 1_000 }

/** Counts the open event streams of this gateway. */
export class StreamLimits {
  readonly #max: typeof defaultMax
  /** By scope and id. */
  readonly #open = new Map<string, number>()

  constructor(max = defaultMax) {
    this.#max = max
  }

  /**
   * Acquires a stream for a caller.
   *
   * @returns the function that releases it; call it once.
   * @throws {ApiError} TOO_MANY_STREAMS
   */
  acquire({ keyId, identity }: Pick<Caller, 'keyId' | 'identity'>): () => void {
    const { userId, organizationId } = identity
    const ids = { key: keyId, user: userId, organization: organizationId, gateway: '' }
    const scopes = ['key', 'user', 'organization', 'gateway'] as const
    for (const scope of scopes) {
      if (this.#openOf(`${scope} ${ids[scope]}`) >= this.#max[scope])
        throw tooManyStreams(scope, this.#max[scope])
    }
    const counted = scopes.map((scope) => `${scope} ${ids[scope]}`)
    for (const key of counted) this.#open.set(key, this.#openOf(key) + 1)
    return () => this.#release(counted)
  }

  #openOf(key: string): number {
    return this.#open.get(key) ?? 0
  }

  #release(counted: readonly string[]): void {
    for (const key of counted) {
      const open = this.#openOf(key) - 1
      if (open === 0) this.#open.delete(key)
      else this.#open.set(key, open)
    }
  }
}
