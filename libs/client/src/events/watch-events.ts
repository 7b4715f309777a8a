import type { FormEvent } from '../schemas.generated.ts'
import { outcomeOf } from '../transport/repeat.ts'
import type { Transport } from '../transport/transport.ts'
import type { ServerSentEvent } from './event-stream.ts'
import type { EventsPage, WatchOptions } from './events.ts'

/** Lists all events after a sequence, whatever the filter. */
type ListAfter = (sequence: number) => AsyncIterable<FormEvent>

/** Follows the log across connections: see `Events.watch`. @param path that of the log. */
export async function* watchEvents(
  { send, stream, pause, maxRetries }: Transport,
  path: () => string,
  listAfter: ListAfter,
  { afterSequence, filter, signal }: WatchOptions,
): AsyncGenerator<FormEvent> {
  const readLastSequence = async () => {
    const call = { method: 'GET', path: path(), query: { pageSize: 1 }, signal } as const
    return (await send<EventsPage>(call)).body.lastSequence
  }
  const start = Number(afterSequence ?? (await readLastSequence()))
  const log = new LogReader(filter?.trim() ? undefined : listAfter, start)
  let wasConnected = false
  for (let failures = 0; ; failures++) {
    let blocks = 0
    let failure: unknown
    try {
      const query = { afterSequence: log.position, filter }
      for await (const block of stream({ method: 'GET', path: `${path()}/stream`, query, signal })) {
        wasConnected = true
        // The server sends a block without an event immediately, and every 5 s. The second block shows that it works.
        if (++blocks > 1) failures = 0
        yield* log.read(block)
      }
    } catch (error) {
      const isLast = !wasConnected && failures >= maxRetries
      if (isLast || outcomeOf(error) === 'rejected') throw error
      failure = error
    }
    await pause(failures, signal, failure, wasConnected)
  }
}

/** Turns blocks of event streams into events of the log: each once, in order and, without a filter, without gaps. */
class LogReader {
  readonly #listAfter: ListAfter | undefined
  /** The sequence up to which all matching events were read. */
  position: number

  /** @param listAfter fills gaps; undefined for a filtered log, in which they are normal. */
  constructor(listAfter: ListAfter | undefined, position: number) {
    this.#listAfter = listAfter
    this.position = position
  }

  async *read({ id, data }: ServerSentEvent): AsyncGenerator<FormEvent> {
    const sequence = Number(id)
    if (!(sequence > this.position)) return
    // A block without data means that no event up to here matches the filter.
    if (data === '' && this.#listAfter) return
    if (this.#listAfter) yield* this.#readGap(sequence, this.#listAfter)
    this.position = sequence
    if (data !== '') yield JSON.parse(data)
  }

  /** The events between the position and `sequence`, from the list. */
  async *#readGap(sequence: number, listAfter: ListAfter): AsyncGenerator<FormEvent> {
    if (sequence === this.position + 1) return
    for await (const event of listAfter(this.position)) {
      if (Number(event.sequence) !== this.position + 1 || this.position + 1 === sequence) break
      this.position++
      yield event
    }
    if (sequence !== this.position + 1) throw new Error(`The log has no event ${this.position + 1}.`)
  }
}
