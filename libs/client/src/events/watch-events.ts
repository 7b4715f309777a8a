import type { FormEvent } from '../schemas.generated.ts'
import { outcomeOf } from '../transport/repeat.ts'
import type { ServerSentEvent } from './event-stream.ts'

export interface WatchSource {
  /** Start after this sequence; undefined for the end of the log. */
  afterSequence: number | undefined
  isFiltered: boolean
  /** Lists all events after a sequence, whatever the filter. */
  listAfter(sequence: number): AsyncIterable<FormEvent>
  readLastSequence(): Promise<number>
  /** Opens the stream of events with a higher sequence. One attempt. */
  connect(afterSequence: number): AsyncIterable<ServerSentEvent>
  /** Waits before the next attempt. @throws the error if its `Retry-After` is too long, and it is not patient. */
  pause(failures: number, error: unknown, isPatient: boolean): Promise<void>
  /** Maximum number of retries of the first connection. */
  maxRetries: number
}

/** Follows the log across connections: see `Events.watch`. */
export async function* watchEvents(source: WatchSource): AsyncGenerator<FormEvent> {
  const log = new LogReader(source, source.afterSequence ?? (await source.readLastSequence()))
  let wasConnected = false
  for (let failures = 0; ; failures++) {
    let blocks = 0
    let failure: unknown
    try {
      for await (const block of source.connect(log.position)) {
        wasConnected = true
        // The server sends a block without an event immediately, and every 5 s. The second block shows that it works.
        if (++blocks > 1) failures = 0
        yield* log.read(block)
      }
    } catch (error) {
      const isLast = !wasConnected && failures >= source.maxRetries
      if (isLast || outcomeOf(error) === 'rejected') throw error
      failure = error
    }
    await source.pause(failures, failure, wasConnected)
  }
}

/** Turns blocks of event streams into events of the log: each once, in order and, without a filter, without gaps. */
class LogReader {
  readonly #source: WatchSource
  /** The sequence up to which all matching events were read. */
  position: number

  constructor(source: WatchSource, position: number) {
    this.#source = source
    this.position = position
  }

  async *read({ id, data }: ServerSentEvent): AsyncGenerator<FormEvent> {
    const sequence = Number(id)
    if (!(sequence > this.position)) return
    const { isFiltered } = this.#source
    // A block without data means that no event up to here matches the filter.
    if (data === '' && !isFiltered) return
    if (!isFiltered) yield* this.#readGap(sequence)
    this.position = sequence
    if (data !== '') yield JSON.parse(data)
  }

  /** The events between the position and `sequence`, from the list. */
  async *#readGap(sequence: number): AsyncGenerator<FormEvent> {
    if (sequence === this.position + 1) return
    for await (const event of this.#source.listAfter(this.position)) {
      if (Number(event.sequence) !== this.position + 1 || this.position + 1 === sequence) break
      this.position++
      yield event
    }
    if (sequence !== this.position + 1) throw new Error(`The log has no event ${this.position + 1}.`)
  }
}
