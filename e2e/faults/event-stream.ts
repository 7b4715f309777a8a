import { eventsStream, FormEvent } from '@fms/contracts'
import { connectNats } from '@fms/service-kit'
import { DeliverPolicy, jetstream } from '@nats-io/jetstream'
import type { NatsConnection } from 'nats'

/** How long the relay may take to bring the stream up to the log, in milliseconds. */
const catchUpMs = 60_000

/** Messages per request. */
const maxBatch = 500

/** The deliveries of one organization's events since the last read. */
export interface StreamVerdict {
  /** First deliveries that are missing or not in the order of `sequence`. */
  outOfOrder: string[]
  /** Events that the stream has more than once. */
  duplicates: number
}

/** Reads the stream EVENTS as a reader of the guide does: by NATS, with the sequence that it has handled. */
export class EventStream implements AsyncDisposable {
  readonly #nats: NatsConnection
  /** By organization: the highest sequence, and the position in the stream. */
  readonly #positions = new Map<string, { sequence: number; streamSequence: number }>()

  private constructor(nats: NatsConnection) {
    this.#nats = nats
  }

  /** @param url the URL of the NATS user `events`. */
  static async open(url: string): Promise<EventStream> {
    return new EventStream(await connectNats(url, 'event-stream-check'))
  }

  /** Reads the events of an organization until the stream has the one with this sequence, at most a minute. */
  async readUntil(organizationId: string, sequence: number): Promise<StreamVerdict> {
    const verdict: StreamVerdict = { outOfOrder: [], duplicates: 0 }
    const position = this.#positions.get(organizationId) ?? { sequence: 0, streamSequence: 0 }
    this.#positions.set(organizationId, position)
    const deadline = performance.now() + catchUpMs
    while (position.sequence < sequence && performance.now() < deadline) {
      const expected = Math.min(maxBatch, sequence - position.sequence)
      // NATS may be restarting.
      await this.#readBatch(organizationId, expected, position, verdict).catch(() => {})
    }
    if (position.sequence < sequence)
      verdict.outOfOrder.push(`the stream ends at ${position.sequence}, and the log at ${sequence}`)
    return verdict
  }

  async #readBatch(
    organizationId: string,
    expected: number,
    position: { sequence: number; streamSequence: number },
    verdict: StreamVerdict,
  ): Promise<void> {
    const consumer = await jetstream(this.#nats).consumers.get(eventsStream.name, {
      filter_subjects: [`events.${organizationId}.>`],
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: position.streamSequence + 1,
    })
    for await (const message of await consumer.fetch({ max_messages: expected, expires: 1_000 })) {
      const sequence = Number(FormEvent.parse(message.json()).sequence)
      if (sequence > position.sequence + 1)
        verdict.outOfOrder.push(`${sequence} after ${position.sequence} in the stream of ${organizationId}`)
      if (sequence <= position.sequence) verdict.duplicates++
      position.sequence = Math.max(position.sequence, sequence)
      position.streamSequence = message.seq
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#nats.close()
  }
}
