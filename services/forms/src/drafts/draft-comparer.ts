import type { Flow } from '@fms/service-kit'
import { type Comparison, comparisonJson } from '../domain/comparison.ts'
import type { DraftThreads } from './draft-threads.ts'

/** Compares states of forms. Small ones on the calling thread; large ones, which take up to 400 ms, in worker threads. */
export class DraftComparer {
  readonly #threads: DraftThreads
  readonly #largeLength: number

  /** @param largeLength two states that have more characters than this run in threads. */
  constructor(threads: DraftThreads, largeLength: number) {
    this.#threads = threads
    this.#largeLength = largeLength
  }

  /** The comparison as JSON, at most 5 MiB. */
  async compare(comparison: Comparison, flow: Flow): Promise<string> {
    const isLarge = comparison.fromJson.length + comparison.toJson.length > this.#largeLength
    return isLarge ? this.#threads.run('compare', comparison, flow) : comparisonJson(comparison)
  }
}
