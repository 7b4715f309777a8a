import type { ServerResponse } from 'node:http'
import type { Identity } from '@fms/contracts'
import { tooManyStreams } from '../errors.ts'

/** Streams that may be open at once: of a key, of an organization, and in a gateway. */
const defaultMax = { key: 5, organization: 100, gateway: 1_000 }

interface LimitedStream {
  identity: Identity
  end: () => void
}

/** Bounds the open event streams. When full, the organization with the most loses its oldest, which its client resumes. */
export class StreamLimits {
  readonly #max: typeof defaultMax
  /** Oldest first. */
  readonly #open = new Map<ServerResponse, LimitedStream>()

  constructor(max = defaultMax) {
    this.#max = max
  }

  /** Acquires a stream. @returns the function that releases it. @throws {ApiError} TOO_MANY_STREAMS */
  acquire(identity: Identity, raw: ServerResponse): () => void {
    let [ofKey, ofOrganization] = [0, 0]
    for (const { identity: other } of this.#open.values()) {
      if (other.key.id === identity.key.id) ofKey++
      if (other.organizationId === identity.organizationId) ofOrganization++
    }
    if (ofKey >= this.#max.key) throw tooManyStreams('key', this.#max.key)
    if (ofOrganization >= this.#max.organization) throw tooManyStreams('organization', this.#max.organization)
    if (this.#open.size >= this.#max.gateway) this.#endOldest()
    this.#open.set(raw, { identity, end: () => raw.destroy() })
    return () => this.#open.delete(raw)
  }

  /** Sets how a stream ends that gives way to another. Until then, its connection is closed. */
  setEnd(raw: ServerResponse, end: () => void): void {
    const stream = this.#open.get(raw)
    if (stream) stream.end = end
  }

  #endOldest(): void {
    const byOrganization = Map.groupBy(this.#open, ([, { identity }]) => identity.organizationId)
    const [oldest] = [...byOrganization.values()].reduce((one, other) =>
      other.length > one.length ? other : one,
    )
    const [raw, { end }] = oldest!
    this.#open.delete(raw)
    end()
  }
}
