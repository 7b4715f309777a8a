import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { ApiError, type CheckedFilter } from '@fms/aip'
import { type FormEvent, formatSequence, parseSequence } from '@fms/contracts'
import { type EventLog, matchesEvent, requiredForm } from '@fms/forms-store'
import type { Flow } from '@fms/scheduling'
import type { FastifyBaseLogger } from 'fastify'
import { type EventReader, maxChunk } from './event-reader.ts'
import type { EventTail, EventTails } from './event-tails.ts'
import { assertNotPruned } from './log-range.ts'

const commentMs = 5_000

/** Pause before a failed read is repeated, in milliseconds. */
const retryMs = 1_000

/** How long an ended stream may take to send its last bytes, in milliseconds. */
const endTimeoutMs = 5_000

export interface EventStreamOptions {
  raw: ServerResponse
  log: FastifyBaseLogger
  events: EventLog
  reader: EventReader
  tails: EventTails
  organizationId: string
  filter?: CheckedFilter | undefined
  /** Events after this sequence are sent. */
  position: number
  lastSequence: number
  flow: Flow
}

/**
 * Server-sent events (WHATWG HTML §9.2) of a log from a position on: `id` is the sequence, `event` the type, `data` the
 * event. Every five seconds, a comment has the position as `id`, for clients without a matching event.
 */
export class EventStream {
  readonly #options: EventStreamOptions
  readonly #formId: string | undefined
  readonly #tail: EventTail
  readonly #ended = new AbortController()
  readonly #comments: NodeJS.Timeout
  #retry: NodeJS.Timeout | undefined
  #position: number
  #isSending = false

  /** Starts the stream; the head of the response is written already. */
  constructor(options: EventStreamOptions) {
    const { raw, tails, organizationId, filter, position, lastSequence } = options
    this.#options = options
    this.#formId = requiredForm(filter)
    this.#position = position
    this.#tail = tails.follow(organizationId, lastSequence, this.#send)
    this.#comments = setInterval(() => this.#writeComment(), commentMs)
    raw.once('close', () => this.#stop())
    this.#writeComment()
    this.#send()
  }

  /** Ends the response after a whole event, so that the client resumes. */
  end(): void {
    if (this.#ended.signal.aborted) return
    const { raw } = this.#options
    this.#stop()
    raw.end()
    const timer = setTimeout(() => raw.destroy(), endTimeoutMs)
    raw.once('close', () => clearTimeout(timer))
  }

  #stop(): void {
    if (this.#ended.signal.aborted) return
    this.#ended.abort()
    clearInterval(this.#comments)
    clearTimeout(this.#retry)
    this.#tail.unfollow(this.#send)
  }

  /** Sends events up to the end of the log, unless that is in progress. */
  readonly #send = (): void => {
    if (this.#isSending || this.#ended.signal.aborted) return
    this.#isSending = true
    this.#sendAll()
      .catch((error) => this.#handle(error))
      .finally(() => {
        this.#isSending = false
      })
  }

  async #sendAll(): Promise<void> {
    const { raw } = this.#options
    const { signal } = this.#ended
    while (this.#position < this.#tail.lastSequence) {
      const { events, position } = this.#recentEvents() ?? (await this.#olderEvents())
      signal.throwIfAborted()
      for (const event of events) {
        this.#write(event)
        this.#position = parseSequence(event.sequence)
        if (raw.writableNeedDrain) await once(raw, 'drain', { signal })
      }
      this.#position = position
    }
  }

  #recentEvents(): Chunk | undefined {
    const events = this.#tail.after(this.#position)
    return events && { events, position: this.#tail.lastSequence }
  }

  /** @throws {ApiError} EVENTS_PRUNED when retention has removed events that the stream has not sent. */
  async #olderEvents(): Promise<Chunk> {
    const { events: log, reader, organizationId, flow } = this.#options
    const to = this.#tail.lastSequence
    const query = { organizationId, formId: this.#formId, from: this.#position + 1, to, limit: maxChunk }
    const events = await reader.read(query, flow)
    assertNotPruned(this.#position, await log.range(organizationId))
    const position = events.length < maxChunk ? to : parseSequence(events.at(-1)!.sequence)
    return { events, position }
  }

  #write(event: FormEvent): void {
    const { raw, filter } = this.#options
    if (matchesEvent(filter, event)) raw.write(blockOf(event))
  }

  #writeComment(): void {
    const { raw } = this.#options
    if (!raw.writableNeedDrain) raw.write(`:\nid: ${formatSequence(this.#position)}\n\n`)
  }

  /** Repeats a read that failed for a moment. Ends the stream on other errors: the client gets them when it resumes. */
  #handle(error: unknown): void {
    if (this.#ended.signal.aborted) return
    if (error instanceof ApiError && error.status === 'UNAVAILABLE') {
      this.#retry = setTimeout(this.#send, retryMs)
      return
    }
    if (!(error instanceof ApiError)) this.#options.log.error({ err: error }, 'an event stream has failed')
    this.end()
  }
}

/** Events, and the sequence up to which they are complete. */
interface Chunk {
  events: FormEvent[]
  position: number
}

const blocks = new WeakMap<FormEvent, string>()

/** The event as a block of the stream. Streams share the recent events, and their blocks. */
const blockOf = (event: FormEvent): string => {
  const known = blocks.get(event)
  if (known !== undefined) return known
  const block = `id: ${event.sequence}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
  blocks.set(event, block)
  return block
}
