import { type FormEvent, parseSequence } from '@fms/contracts'
import type { EventLog } from '@fms/forms-store'

/** Events in memory at once. */
const batchSize = 500

/** The part of a log from a sequence on. */
export interface LogRange {
  organizationId: string
  from: number
}

/**
 * Reads the events of a log in the order of `sequence`, up to its end.
 *
 * @throws {Error} if retention has removed one of them.
 */
export async function* readEvents(
  log: EventLog,
  { organizationId, from }: LogRange,
): AsyncGenerator<FormEvent> {
  for (let next = from; ; ) {
    const events = await log.read({ organizationId, from: next, limit: batchSize })
    for (const event of events) {
      const sequence = parseSequence(event.sequence)
      if (sequence !== next) throw eventsPruned(next, sequence)
      yield event
      next++
    }
    if (events.length < batchSize) return
  }
}

const eventsPruned = (expected: number, oldest: number): Error =>
  new Error(
    `Events ${expected} to ${oldest - 1} are not in the log any more. Changes are missing in between: ` +
      `export or list the forms first. Then continue with --after ${oldest - 1}.`,
  )
