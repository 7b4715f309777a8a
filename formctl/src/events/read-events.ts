import { type FormEvent, parseSequence } from '@fms/contracts'
import type { EventLog } from '@fms/forms-store'

/** Events in memory at once. */
const batchSize = 500

/** Reads the events of a log, by default all of them, in the order of `sequence`, up to the end that it has then. */
export async function* readEvents(
  log: EventLog,
  { organizationId, from = 1 }: { organizationId: string; from?: number },
): AsyncGenerator<FormEvent> {
  for (let next = from; ; ) {
    const events = await log.read({ organizationId, from: next, limit: batchSize })
    yield* events
    if (events.length < batchSize) return
    next = parseSequence(events.at(-1)!.sequence) + 1
  }
}
