import { type FormEvent, formatSequence, parseSequence } from '@fms/contracts'
import type { EventLog } from '@fms/forms-store'
import { maxChunk } from './event-reader.ts'

/** Interval between two reads of the end of a log, in milliseconds. */
const intervalMs = 400

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
    const known = this.#tails.get(organizationId)
    const tail = known ?? new EventTail(this.#events, organizationId, lastSequence)
    if (!known) {
      this.#tails.set(organizationId, tail)
      tail.start(() => this.#tails.delete(organizationId))
    }
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
  #timer: NodeJS.Timeout | undefined
  #stopped: () => void = () => {}

  constructor(events: EventLog, organizationId: string, lastSequence: number) {
    this.#events = events
    this.#organizationId = organizationId
    this.#lastSequence = lastSequence
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
    clearTimeout(this.#timer)
    this.#stopped()
  }

  /** @param stopped called when the last follower has left. */
  start(stopped: () => void): void {
    this.#stopped = stopped
    const poll = async () => {
      // The store's metrics and log report a failure; the next poll tries again.
      const isBehind = await this.#poll().catch(() => false)
      if (this.#followers.size > 0) this.#timer = setTimeout(poll, isBehind ? 0 : intervalMs)
    }
    this.#timer = setTimeout(poll, intervalMs)
  }

  /** @returns whether the log may have more events. */
  async #poll(): Promise<boolean> {
    const from = this.#lastSequence + 1
    const events = await this.#events.read({ organizationId: this.#organizationId, from, limit: maxChunk })
    const last = events.at(-1)
    if (!last) return false
    // After a gap, the events in memory would hide that some have been removed.
    const hasGap = parseSequence(events[0]!.sequence) > from
    this.#recent = hasGap ? events : [...this.#recent, ...events].slice(-maxChunk)
    this.#lastSequence = parseSequence(last.sequence)
    for (const grown of this.#followers) grown()
    return events.length === maxChunk
  }
}
