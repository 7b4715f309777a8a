import { setImmediate } from 'node:timers/promises'
import { type FormEvent, formatSequence, parseSequence } from '@fms/contracts'
import type { EventLog } from '@fms/forms-store'
import { repeat } from '@fms/scheduling/repeat'
import { maxChunk } from './event-reader.ts'

/** The longest pause between two reads of the end of a log, in milliseconds. */
const intervalMs = 450

/** The ends of the logs that streams follow: one poll for all streams of a log. Needs only the store, not NATS. */
export class EventTails {
  readonly #events: EventLog
  readonly #tails = new Map<string, EventTail>()

  constructor(events: EventLog) {
    this.#events = events
  }

  /**
   * Follows the end of a log until {@link EventTail.unfollow}.
   *
   * @param grown called after a poll with events. Must not throw.
   */
  follow(organizationId: string, lastSequence: number, grown: () => void): EventTail {
    const onUnfollowed = () => this.#tails.delete(organizationId)
    const tail = this.#tails.getOrInsertComputed(
      organizationId,
      () => new EventTail(this.#events, organizationId, lastSequence, onUnfollowed),
    )
    tail.add(grown)
    return tail
  }
}

/** The end of a log: its last sequence, and the most recent events. */
export class EventTail {
  readonly #events: EventLog
  readonly #organizationId: string
  readonly #followers = new Set<() => void>()
  #lastSequence: number
  /** Without gaps, at most {@link maxChunk}; the last one has {@link lastSequence}. */
  #recent: FormEvent[] = []
  readonly #onUnfollowed: () => void
  readonly #polling: ReturnType<typeof repeat>

  /** @param onUnfollowed called when the last follower has left. */
  constructor(events: EventLog, organizationId: string, lastSequence: number, onUnfollowed: () => void) {
    this.#events = events
    this.#organizationId = organizationId
    this.#lastSequence = lastSequence
    this.#onUnfollowed = onUnfollowed
    // The store's metrics and log report a failure; the next poll tries again.
    this.#polling = repeat(
      intervalMs,
      () => this.#poll(),
      () => {},
    )
  }

  get lastSequence(): number {
    return this.#lastSequence
  }

  /** The events after a sequence, up to the last one; undefined if some of them are no longer in memory. */
  after(sequence: number): FormEvent[] | undefined {
    const first = this.#recent[0]
    if (!first || parseSequence(first.sequence) > sequence + 1) return undefined
    const position = formatSequence(sequence)
    return this.#recent.filter((event) => event.sequence > position)
  }

  add(grown: () => void): void {
    this.#followers.add(grown)
  }

  unfollow(grown: () => void): void {
    this.#followers.delete(grown)
    if (this.#followers.size > 0) return
    void this.#polling.stop()
    this.#onUnfollowed()
  }

  async #poll(): Promise<void> {
    // Between two chunks of a log that has grown much, others run.
    await setImmediate()
    const from = this.#lastSequence + 1
    const events = await this.#events.read({ organizationId: this.#organizationId, from, limit: maxChunk })
    const last = events.at(-1)
    if (!last) return
    // After a gap, the events in memory would hide that some have been removed.
    const hasGap = parseSequence(events[0]!.sequence) > from
    this.#recent = hasGap ? events : [...this.#recent, ...events].slice(-maxChunk)
    this.#lastSequence = parseSequence(last.sequence)
    for (const grown of this.#followers) grown()
    // The log may have more events.
    if (events.length === maxChunk) this.#polling.wake()
  }
}
