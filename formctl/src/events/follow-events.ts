import { setTimeout as delay } from 'node:timers/promises'
import { type FormEvent, parseSequence } from '@fms/contracts'
import type { EventLog } from '@fms/forms-store'
import { type LogRange, readEvents } from './read-events.ts'

/** Interval at which a log is read for new events, in milliseconds. */
const intervalMs = 1_000

/**
 * Reads the events of a log, then each new one within about a second, until the signal aborts.
 *
 * @throws {Error} if retention has removed one of them.
 */
export async function* followEvents(
  log: EventLog,
  { organizationId, from }: LogRange,
  signal: AbortSignal,
): AsyncGenerator<FormEvent> {
  for (let next = from; !signal.aborted; ) {
    for await (const event of readEvents(log, { organizationId, from: next })) {
      if (signal.aborted) return
      yield event
      next = parseSequence(event.sequence) + 1
    }
    await delay(intervalMs, undefined, { signal }).catch(() => {})
  }
}
