import { tooManyStreams } from '../errors.ts'

/** Streams of one key, and of all callers, that may be open at once in a gateway. */
const defaultMax = { perKey: 5, total: 1_000 }

/** Counts the open event streams of this gateway. */
export class StreamLimits {
  readonly #max: typeof defaultMax
  readonly #openOfKey = new Map<string, number>()
  #open = 0

  constructor(max = defaultMax) {
    this.#max = max
  }

  /**
   * Acquires a stream for a key.
   *
   * @returns the function that releases it; call it once.
   * @throws {ApiError} TOO_MANY_STREAMS
   */
  acquire(keyId: string): () => void {
    const ofKey = this.#openOfKey.get(keyId) ?? 0
    if (ofKey >= this.#max.perKey) throw tooManyStreams('key', this.#max.perKey)
    if (this.#open >= this.#max.total) throw tooManyStreams('gateway', this.#max.total)
    this.#openOfKey.set(keyId, ofKey + 1)
    this.#open++
    return () => this.#release(keyId)
  }

  #release(keyId: string): void {
    const ofKey = this.#openOfKey.get(keyId)! - 1
    if (ofKey === 0) this.#openOfKey.delete(keyId)
    else this.#openOfKey.set(keyId, ofKey)
    this.#open--
  }
}
