import { setTimeout as sleep } from 'node:timers/promises'

/** How many organizations are collected at a time. */
const maxTasks = 32

/** Bounds of the pause after failures of an organization, in milliseconds. It doubles with each failure in a row. */
const minPauseMs = 1_000
const maxPauseMs = 60_000

/** What one organization has to collect. */
interface OrganizationWork {
  organizationId: string
}

export interface CollectionTasksOptions {
  /** How long `run` waits for slow organizations, in milliseconds. Default: without a limit. */
  waitMs?: number
}

/**
 * The collections of pending events that this process has in progress, one per organization. A slow organization, or one
 * whose collection fails, does not hold up others.
 */
export class CollectionTasks {
  readonly #waitMs: number | undefined
  readonly #running = new Map<string, Promise<void>>()
  readonly #failures = new Map<string, { count: number; untilMs: number }>()
  readonly #errors: unknown[] = []

  constructor({ waitMs }: CollectionTasksOptions = {}) {
    this.#waitMs = waitMs
  }

  /** The organizations to leave out now: those in progress, and for a while those whose last collection has failed. */
  get busy(): string[] {
    const nowMs = performance.now()
    const failing = [...this.#failures].filter(([, { untilMs }]) => untilMs > nowMs)
    return [...this.#running.keys(), ...failing.map(([organizationId]) => organizationId)]
  }

  /**
   * Starts `collect` for each of these organizations. Returns when all have ended, or after `waitMs`: then those that have
   * started continue, and the others are left to the next call.
   *
   * @param collect resolves to the number of forms whose events it has moved.
   * @returns the sum of these numbers, plus the number of collections in progress.
   * @throws the first error since the last call, after the others are done.
   */
  async run<W extends OrganizationWork>(
    work: readonly W[],
    collect: (one: W) => Promise<number>,
  ): Promise<number> {
    const rest = work.values()
    let [moved, isOpen] = [0, true]
    const count = (each: number) => {
      moved += each
    }
    const startNext = async () => {
      for (const one of rest) {
        if (!isOpen) return
        await this.#start(one.organizationId, () => collect(one).then(count))
      }
    }
    const free = Math.max(0, maxTasks - this.#running.size)
    const started = Array.from({ length: Math.min(free, work.length) }, startNext)
    await this.#wait(Promise.all(started.length > 0 ? started : this.#running.values()))
    isOpen = false
    const [error] = this.#errors.splice(0)
    if (error !== undefined) throw error
    return moved + this.#running.size
  }

  #start(organizationId: string, collect: () => Promise<void>): Promise<void> {
    const task = collect()
      .then(
        () => void this.#failures.delete(organizationId),
        (error: unknown) => this.#fail(organizationId, error),
      )
      .finally(() => this.#running.delete(organizationId))
    this.#running.set(organizationId, task)
    return task
  }

  #fail(organizationId: string, error: unknown): void {
    const count = (this.#failures.get(organizationId)?.count ?? 0) + 1
    const pauseMs = Math.min(minPauseMs * 2 ** (count - 1), maxPauseMs)
    this.#failures.set(organizationId, { count, untilMs: performance.now() + pauseMs })
    this.#errors.push(error)
  }

  async #wait(all: Promise<unknown>): Promise<void> {
    if (this.#waitMs === undefined) return void (await all)
    const timeout = new AbortController()
    const { signal } = timeout
    await Promise.race([all, sleep(this.#waitMs, undefined, { signal }).catch(() => {})])
    timeout.abort()
  }
}
